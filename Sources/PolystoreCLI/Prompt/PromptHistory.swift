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
        path = chosen.flatMap { $0.isEmpty ? nil : $0 }
        let text = path.flatMap { try? String(contentsOfFile: $0, encoding: .utf8) } ?? ""
        lines = text.split(separator: "\n").suffix(Self.mostLines).map(String.init)
    }

    /// Adds a line, unless it repeats the newest one or begins with a space.
    mutating func add(_ line: String) {
        if line.isEmpty || line.hasPrefix(" ") || line == lines.last { return }
        lines.append(line)
        if lines.count > Self.mostLines { lines.removeFirst() }
    }

    /// Writes the lines, in a file that replaces the former one.
    func save() {
        guard let path else { return }
        let folder = (path as NSString).deletingLastPathComponent, manager = FileManager.default
        if !folder.isEmpty {
            try? manager.createDirectory(atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let name = "\(path).\(getpid())"
        let text = Data((lines.joined(separator: "\n") + "\n").utf8)
        if manager.createFile(atPath: name, contents: text, attributes: [.posixPermissions: 0o600]) { rename(name, path) }
    }
}
