import Foundation
import Testing

/// Calls of the system that fail under an LMDB store.
@Suite(.serialized) struct LMDBFailingCallTests {
    private static let canFail = FailingCalls.library != nil

    @Test(.enabled(if: canFail, "the library that lets calls fail is built with cc on Linux"), arguments: FailingCalls.Failure.allCases)
    func everyFailureKeepsAcknowledgedCommits(_ failure: FailingCalls.Failure) throws {
        try FailingScript("lmdb", failure).check()
    }

    @Test(.enabled(if: FullDiskTests.canMount, "a small file system cannot be mounted"), arguments: [64, 80, 100, 128])
    func aFullDiskKeepsAcknowledgedCommits(_ kilobytes: Int) throws {
        try FailingScript("lmdb", .diskStaysFull).checkDisk(of: kilobytes)
    }

    /// Commits that may be lost at a loss of power are whole or not there: their data are on the disk before what makes them valid.
    @Test(.enabled(if: canFail, "the library that counts calls is built with cc on Linux"), arguments: ["full", "relaxed"])
    func theDataOfACommitAreOnTheDiskBeforeItsEnd(_ durability: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-sync-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = "lmdb:\(folder.path)/store.lmdb?durability=\(durability)", commits = 5
        let run = try FailingCalls(path: folder.lastPathComponent, kinds: [.write, .sync]).run(["--script", url, "\(commits)"])
        #expect(run.lines.filter { $0.hasSuffix(" done") }.count == commits + 2)
        // A commit ends with: pages, a sync, the page that makes it valid.
        let ends = run.calls.indices.dropFirst().filter { run.calls[$0 - 1] == .sync && run.calls[$0] == .write }
        #expect(ends.count >= commits)
    }
}
