import Foundation
import Testing

/// Calls of the system that fail under a SQLite store.
@Suite(.serialized) struct SQLiteFailingCallTests {
    @Test(
        .enabled(if: FailingCalls.library != nil, "the library that lets calls fail is built with cc on Linux"),
        arguments: FailingCalls.Failure.allCases)
    func everyFailureKeepsAcknowledgedCommits(_ failure: FailingCalls.Failure) throws {
        try FailingScript("sqlite", failure).check()
    }

    /// With hardly any cache the engine writes in the middle of a transaction, and a failure there makes it roll the transaction back.
    @Test(
        .enabled(if: FailingCalls.library != nil, "the library that lets calls fail is built with cc on Linux"),
        arguments: FailingCalls.Failure.allCases)
    func aTransactionLargerThanTheCacheFailsAsAWhole(_ failure: FailingCalls.Failure) throws {
        var script = FailingScript("sqlite", failure)
        script.options = "?cache=16"
        script.commits = 4
        try script.check()
    }

    @Test(
        .enabled(if: FailingCalls.library != nil, "the library that lets calls fail is built with cc on Linux"),
        arguments: [FailingCalls.Failure.inputOutput, .shortWrite])
    func noFailureLeavesAPageWithoutItsChecksum(_ failure: FailingCalls.Failure) throws {
        var script = FailingScript("sqlite", failure)
        script.options = "?checksums=on"
        try script.check()
    }

    /// A file that is there is never reported as missing; a later attempt finds descriptors again.
    @Test(arguments: 5...8) func missingFileDescriptorsAreReported(_ most: Int) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-descriptors-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = "sqlite:\(folder.path)/store.db"
        #expect(try Helper.said("exec \"$0\" --script \"$1\" 2", url).contains("2 done"))
        let said = try Helper.said("ulimit -n \(most); exec \"$0\" --script \"$1\" 3", url)
        #expect(said.first == "open done" || said == ["open limitExceeded", "open limitExceeded"], "\(said)")
    }
}

extension Helper {
    /// What the helper says, run by a script of the shell: it is `$0`, and the argument `$1`.
    fileprivate static func said(_ script: String, _ argument: String) throws -> [String] {
        let process = Process(), output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/bash")
        process.arguments = ["-c", script, Helper.program.path, argument]
        process.standardOutput = output
        try process.run()
        let data = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self).split(separator: "\n").map(String.init)
    }
}
