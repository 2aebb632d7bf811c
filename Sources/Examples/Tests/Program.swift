import Foundation

/// A program of this package.
struct Program {
    /// A folder for the files of a test, which exists.
    static func folder() throws -> URL {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-example-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// What a program has written, and its exit code.
    struct Result: Equatable {
        let code: Int32
        let output: String
    }

    let executable: URL

    /// Finds a program beside the one that tests.
    init(_ name: String) {
        executable = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent(name)
    }

    init(path: String) { executable = URL(fileURLWithPath: path) }

    /// Runs the program to its end.
    func run(_ arguments: String..., environment: [String: String] = [:]) throws -> Result {
        let (process, output) = try start(arguments, environment: environment)
        let data = output.readDataToEndOfFile()
        process.waitUntilExit()
        return Result(code: process.terminationStatus, output: String(decoding: data, as: UTF8.self))
    }

    /// Starts the program.
    func start(_ arguments: [String], environment: [String: String] = [:]) throws -> (Process, FileHandle) {
        let process = Process(), pipe = Pipe()
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = pipe
        try process.run()
        return (process, pipe.fileHandleForReading)
    }
}
