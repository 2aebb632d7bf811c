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

    /// Commits that wait for the disk together all learn that it failed, and no later one is acknowledged that depends on what it lost.
    @Test(
        .enabled(if: FailingCalls.library != nil, "the library that lets calls fail is built with cc on Linux"),
        arguments: [FailingCalls.Failure.inputOutput, .deviceIsGone, .deviceGoesAfterwards])
    func aFailureConcernsAllCommitsThatWaitTogether(_ failure: FailingCalls.Failure) throws {
        var script = FailingScript("sqlite", failure)
        (script.commits, script.writers, script.mostFailures, script.kinds) = (12, 4, 4, [.sync])
        try script.check()
    }

    @Test(.enabled(if: FailingCalls.library != nil, "the library that counts calls is built with cc on Linux"))
    func everyCommitIsOnTheDiskAtItsEnd() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-sync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = "sqlite:\(folder.path)/store.db", commits = 5, calls = FailingCalls(path: "store.db-wal", kinds: [.write, .sync])
        let run = try calls.run(["--script", url, "\(commits)"])
        #expect(run.lines.filter { $0.hasSuffix(" done") }.count == commits + 2)
        // Each commit ends with: pages, a sync. Creating the store is one more, and the header of the log another.
        let ends = run.calls.indices.dropFirst().filter { run.calls[$0 - 1] == .write && run.calls[$0] == .sync }
        #expect(ends.count >= commits + 1)
    }

    /// While the disk is busy with one commit, others are made, and then share the next flush.
    @Test(.enabled(if: FailingCalls.library != nil, "the library that slows down calls is built with cc on Linux"))
    func commitsThatWaitForTheDiskShareAFlush() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-shared-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = "sqlite:\(folder.path)/store.db", commits = 96
        var calls = FailingCalls(path: "store.db-wal", kinds: [.sync])
        // Long enough for the other threads to come to their next commit on a busy machine.
        calls.syncMicroseconds = 100_000
        let run = try calls.run(["--script", url, "\(commits)", "16"])
        #expect(run.lines.filter { $0.hasSuffix(" done") }.count == commits + 2)
        #expect(run.calls.count < commits / 2, "\(run.calls.count) flushes of \(commits) commits")
        let found = try calls.run(["--script-verify", url, "16"])
        #expect(found.lines == [(1...commits).map(String.init).joined(separator: " ")])
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
