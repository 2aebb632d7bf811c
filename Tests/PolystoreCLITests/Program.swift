import Foundation
import Testing

/// Runs the built program over files in a folder of its own. The program lies beside the test bundle, or in the folder that
/// `POLYSTORE_PROGRAMS` names, such as that of a release build.
struct Program {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-cli-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    /// The program without a terminal, not started.
    static func process(_ arguments: [String]) -> Process {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        return process
    }

    static var executable: URL {
        if let folder = ProcessInfo.processInfo.environment["POLYSTORE_PROGRAMS"] {
            return URL(fileURLWithPath: folder).appendingPathComponent("polystore")
        }
        let beside = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("polystore")
        if FileManager.default.isExecutableFile(atPath: beside.path) { return beside }
        return Bundle.main.bundleURL.deletingLastPathComponent().appendingPathComponent("debug/polystore")
    }

    /// Runs it to its end, with a text as its input, and with more variables in its environment.
    func run(
        _ arguments: [String], input: String? = nil, environment: [String: String] = [:]
    ) throws -> (code: Int32, output: String, error: String) {
        let process = Self.process(arguments), output = Pipe(), error = Pipe()
        if !environment.isEmpty { process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 } }
        if let input { process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: file("input.txt", input))) }
        process.standardOutput = output
        process.standardError = error
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let trouble = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, text, trouble)
    }

    /// The path of a file with a text.
    func file(_ name: String, _ text: String) throws -> String {
        let url = folder.appendingPathComponent(name)
        try text.write(to: url, atomically: true, encoding: .utf8)
        return url.path
    }

    /// A new store of a kind, by default in a file of the folder.
    func target(_ kind: String) -> String {
        switch kind {
        case "postgresql":
            (ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"] ?? "")
                + "&x-schema=copy_\(UUID().uuidString.prefix(8).lowercased())"
        case "lmdb": "lmdb:\(folder.appendingPathComponent("copy.lmdb").path)"
        default: "sqlite:\(folder.appendingPathComponent("copy.db").path)"
        }
    }

    /// Starts the program, and ends it by force after some milliseconds.
    static func runUntilKilled(_ arguments: [String], after milliseconds: Int) throws {
        let process = Self.process(arguments)
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        Thread.sleep(forTimeInterval: Double(milliseconds) / 1000)
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// Runs statements with the tool of SQLite over a file in the folder, and returns what it prints.
    @discardableResult
    func sqlite3(_ name: String, _ statements: String) throws -> String {
        let process = Process(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/sqlite3")
        process.arguments = [folder.appendingPathComponent(name).path, statements]
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(statements)")
        return text
    }
}
