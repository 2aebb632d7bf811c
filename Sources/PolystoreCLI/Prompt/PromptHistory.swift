internal import Foundation

/// The lines of earlier prompts, in a file that only its owner can read.
///
/// Lines can contain values of the user's data. A history that cannot be read or written is not an error.
struct PromptHistory {
    /// The number of lines that are kept.
    private static let mostLines = 1000

    private let path: String?
    private(set) var lines: [String]

    /// Reads the history. Its file is the value of `POLYSTORE_HISTORY`, without which it is `polystore/history` in the folder for the state
    /// of programs (`XDG_STATE_HOME`, or `~/.local/state`). There is no file if the variable is empty.
    init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let home = environment["HOME"].map { $0 + "/.local/state" }, state = environment["XDG_STATE_HOME"].flatMap { $0.isEmpty ? nil : $0 }
        let chosen = environment["POLYSTORE_HISTORY"] ?? (state ?? home).map { $0 + "/polystore/history" }
        // The destination of a symbolic link is replaced, and not the link.
        path = chosen.flatMap { $0.isEmpty ? nil : URL(fileURLWithPath: $0).resolvingSymlinksInPath().path }
        lines = Self.lines(path)
    }

    /// Returns the newest lines of a file; none if it is not a file of lines, such as a device.
    private static func lines(_ path: String?) -> [String] {
        guard let path, isFile(path) == true, let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else { return [] }
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n").suffix(mostLines)
        // Control characters would move the cursor of the terminal.
        return lines.map { String(String.UnicodeScalarView($0.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f })) }
    }

    /// Returns whether a path is that of a regular file; nil if it does not exist.
    private static func isFile(_ path: String) -> Bool? {
        var status = stat()
        return stat(path, &status) == 0 ? status.st_mode & S_IFMT == S_IFREG : nil
    }

    /// Adds a line, unless it repeats the newest one or begins with a space, to the lines of this prompt and to the file, which other
    /// prompts can have changed meanwhile.
    mutating func add(_ line: String) {
        if line.isEmpty || line.hasPrefix(" ") || line == lines.last { return }
        lines = Array((lines + [line]).suffix(Self.mostLines))
        guard let path, Self.isFile(path) != false else { return }
        let folder = (path as NSString).deletingLastPathComponent, manager = FileManager.default
        try? manager.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        let name = "\(path).\(getpid())", kept = (Self.lines(path) + [line]).suffix(Self.mostLines)
        let text = Data((kept.joined(separator: "\n") + "\n").utf8)
        if manager.createFile(atPath: name, contents: text, attributes: [.posixPermissions: 0o600]), rename(name, path) != 0 {
            unlink(name)
        }
    }
}
