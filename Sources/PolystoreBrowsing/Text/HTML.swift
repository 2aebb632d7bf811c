/// A piece of a page. Texts become part of it only by interpolation, which escapes them.
struct HTML: Sendable, Hashable, ExpressibleByStringInterpolation {
    private(set) var text: String

    init(stringLiteral value: String) { text = value }

    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// Joins pieces.
    init(_ parts: [HTML]) { text = parts.map(\.text).joined() }

    static let nothing: HTML = ""

    static func + (a: HTML, b: HTML) -> HTML { HTML([a, b]) }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity * 2) }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ piece: HTML) { text += piece.text }

        mutating func appendInterpolation(_ pieces: [HTML]) { for piece in pieces { text += piece.text } }

        mutating func appendInterpolation(_ number: some BinaryInteger) { text += String(number) }

        mutating func appendInterpolation(_ value: some StringProtocol) {
            for scalar in value.unicodeScalars {
                switch scalar {
                case "&": text += "&amp;"
                case "<": text += "&lt;"
                case ">": text += "&gt;"
                case "\"": text += "&quot;"
                case "'": text += "&#39;"
                // Pages cannot contain other control characters, and would be damaged by them.
                case "\t", "\n": text.unicodeScalars.append(scalar)
                default: text.unicodeScalars.append(scalar.properties.generalCategory == .control ? "\u{fffd}" : scalar)
                }
            }
        }
    }
}
