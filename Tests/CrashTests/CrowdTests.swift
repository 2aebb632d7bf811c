import Foundation
import Polystore
import PolystoreCatalog
import Testing

/// Many write and many observe, in two programs: each is told of every commit once, in order, whoever made it.
@Suite(.serialized) struct CrowdTests {
    private static let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]
    private static let kinds = ["sqlite", "lmdb", "postgresql"].filter { server != nil || $0 != "postgresql" }

    /// Two programs with some writers each and two observers each; what their observers saw.
    private func crowd(_ url: String, writers: Int, commits: Int, during body: () throws -> Void = {}) throws -> [[String]] {
        let total = writers * 2 * commits
        var programs: [HelperProcess] = []
        for first in [1, 1 + writers] {
            let program = try HelperProcess(["--crowd", url, "\(commits)", "\(first)", "\(writers)", "\(total)"])
            #expect(program.lines(1) == ["ready"])
            programs.append(program)
        }
        for program in programs { program.say("go") }
        try body()
        return try programs.map { program in
            let lines = program.lines(3)
            program.endInput()
            _ = try program.rest()
            return lines
        }
    }

    @Test(arguments: kinds) func eightWritersAndFourObserversInTwoPrograms(_ kind: String) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-crowd-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let schema = "crowd_\(folder.lastPathComponent.suffix(12).lowercased())"
        let url =
            kind == "postgresql" ? (Self.server ?? "") + "&x-schema=\(schema)" : "\(kind):\(folder.path)/store.\(kind)?durability=relaxed"
        defer {
            try? StoreCatalog.standard.store(at: StoreURL(url), configuration: nil).erase()
            try? FileManager.default.removeItem(at: folder)
        }
        for seen in try crowd(url, writers: 4, commits: 100) {
            #expect(seen == ["fed 800 of 800 in order true", "listed true 800", "gaps 0"])
        }
    }

    @Test(.enabled(if: server != nil)) func nothingIsLostAndNothingTwiceWhileTheServerIsRestartedTenTimes() throws {
        guard let server = OwnServer() else { return }
        defer { server.remove() }
        let seen = try crowd(server.url, writers: 2, commits: 800) {
            for _ in 0..<10 {
                Thread.sleep(forTimeInterval: 0.4)
                try server.stop()
                try server.start()
            }
        }
        for lines in seen { #expect(Array(lines.prefix(2)) == ["fed 3200 of 3200 in order true", "listed true 3200"]) }
    }
}
