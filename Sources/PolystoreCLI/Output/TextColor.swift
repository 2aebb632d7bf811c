internal import Foundation

/// A colour of text on a terminal.
enum TextColor: String {
    case red = "31"
    case green = "32"
    case yellow = "33"
    case bold = "1"

    /// Whether a stream shows colours: a terminal does, unless `NO_COLOR` is set (no-color.org) or the terminal cannot.
    static func isShown(on stream: Int32) -> Bool {
        switch (try? Configuration.current().color) ?? .auto {
        case .always: return true
        case .never: return false
        case .auto: break
        }
        let environment = ProcessInfo.processInfo.environment
        if environment["NO_COLOR"]?.isEmpty == false || ["", "dumb"].contains(environment["TERM"] ?? "") { return false }
        return isatty(stream) == 1
    }

    /// Returns a text in the colour, if the standard output shows colours.
    func callAsFunction(_ text: String) -> String { Self.isOutput ? code(text) : text }

    /// Returns a text in the colour, if the standard error stream shows colours.
    func error(_ text: String) -> String { Self.isError ? code(text) : text }

    private func code(_ text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }

    private static let isOutput = isShown(on: STDOUT_FILENO), isError = isShown(on: STDERR_FILENO)
}
