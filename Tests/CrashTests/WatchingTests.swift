import Foundation
import Polystore
import PolystoreCatalog
import Testing

/// A program is told what other programs change in the same store, and only that.
@Suite(.serialized) struct WatchingTests {
    private static let server = ProcessInfo.processInfo.environment["POLYSTORE_TEST_POSTGRES"]
    private static let kinds = ["sqlite", "lmdb", "postgresql"].filter { server != nil || $0 != "postgresql" }

    private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-watching-\(UUID().uuidString)")
    private var schema: String { "watching_\(folder.lastPathComponent.suffix(12).lowercased())" }

    /// Two programs over one new store: the first watches as "a".
    private func withPrograms(_ kind: String, _ body: (_ url: String, HelperProcess, HelperProcess) throws -> Void) throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let url = kind == "postgresql" ? (Self.server ?? "") + "&x-schema=\(schema)" : "\(kind):\(folder.path)/store.\(kind)"
        defer {
            try? StoreCatalog.standard.store(at: StoreURL(url), configuration: nil).erase()
            try? FileManager.default.removeItem(at: folder)
        }
        let watching = try HelperProcess(["--peer", url])
        #expect(watching.lines(1) == ["ready"])
        let other = try HelperProcess(["--peer", url])
        #expect(other.lines(1) == ["ready"])
        tell(watching, "watch a")
        try body(url, watching, other)
        watching.endInput()
        other.endInput()
        #expect(try other.rest() == [])
        _ = try watching.rest()
    }

    private func tell(_ program: HelperProcess, _ verbs: String...) {
        for verb in verbs {
            program.say(verb)
            #expect(program.lines(1) == ["\(verb): done"])
        }
    }

    /// Runs a program that knows nothing of this library.
    private func run(_ program: String, _ arguments: String...) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(program)")
    }

    private func psql(_ sql: String) throws { try run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", sql, "-d", Self.server ?? "") }

    /// The signals up to one, without those that come again.
    private func signals(_ program: HelperProcess, until last: String) -> [String] {
        var found: [String] = []
        while let line = program.lines(1).first {
            if found.last != line { found.append(line) }
            if line == last { return found }
        }
        return found
    }

    @Test(arguments: kinds) func commitsOfAnotherProgramAreReported(_ kind: String) throws {
        try withPrograms(kind) { _, watching, other in
            for _ in 0..<3 {
                tell(other, "insert")
                #expect(watching.lines(1) == ["a history"])
            }
            tell(other, "load")
            #expect(watching.lines(1) == ["a unknown"])
            tell(other, "insert-then-load")
            #expect(signals(watching, until: "a unknown").last == "a unknown")
        }
    }

    @Test(arguments: kinds) func commitsWithoutChangesOfObjectsAreNotReported(_ kind: String) throws {
        try withPrograms(kind) { _, watching, other in
            for _ in 0..<3 {
                tell(other, "note", "keys", "undone", "nothing", "note")
                tell(other, "insert")
                #expect(watching.lines(1) == ["a history"])
            }
        }
    }

    @Test(arguments: kinds) func ownCommitsAreNotReportedByWatches(_ kind: String) throws {
        try withPrograms(kind) { _, watching, other in
            tell(watching, "insert", "load", "note", "keys", "insert-then-load", "links", "undone", "sleep 300")
            tell(other, "insert")
            #expect(watching.lines(1) == ["a history"])
        }
    }

    @Test(arguments: kinds) func watchesAreIndependentAndEnd(_ kind: String) throws {
        try withPrograms(kind) { _, watching, other in
            tell(watching, "watch b")
            tell(other, "insert")
            #expect(Set(watching.lines(2)) == ["a history", "b history"])
            tell(watching, "cancel a")
            tell(other, "insert")
            #expect(watching.lines(1) == ["b history"])
            tell(watching, "cancel b")
            tell(other, "insert")
            tell(watching, "sleep 300")
            tell(watching, "watch c")
            tell(other, "load")
            #expect(watching.lines(1) == ["c unknown"])
        }
    }

    @Test func writesOfOtherProgramsAreReportedAsUnknownSQLite() throws {
        try withPrograms("sqlite") { _, watching, other in
            tell(other, "insert")
            #expect(watching.lines(1) == ["a history"])
            let file = folder.path + "/store.sqlite"
            for sql in ["UPDATE Note SET number = number + 1", "DELETE FROM Note", "CREATE TABLE other(x)"] {
                try run("sqlite3", file, "PRAGMA busy_timeout = 5000; \(sql)")
                #expect(watching.lines(1) == ["a unknown"])
            }
            // One between commits of ours is not overlooked.
            tell(other, "insert")
            try run("sqlite3", file, "PRAGMA busy_timeout = 5000; INSERT INTO other VALUES(1)")
            tell(other, "insert")
            #expect(signals(watching, until: "a unknown").last == "a unknown")
        }
    }

    @Test(.enabled(if: server != nil)) func writesOfOtherProgramsAreReportedAsUnknownPostgreSQL() throws {
        try withPrograms("postgresql") { _, watching, other in
            tell(other, "insert")
            #expect(watching.lines(1) == ["a history"])
            let table = "\(schema).\"Note\"", links = "\(schema).\"Note.back\""
            for sql in [
                "UPDATE \(table) SET number = 2", "INSERT INTO \(table) VALUES(1000, 1, 5)", "DELETE FROM \(table)", "TRUNCATE \(table)",
            ] {
                try psql(sql)
                #expect(watching.lines(1) == ["a unknown"])
            }
            try psql(
                "DO $$ BEGIN EXECUTE (SELECT 'TRUNCATE ' || string_agg(oid::regclass::text, ', ') FROM pg_class WHERE relkind = 'r' "
                    + "AND relnamespace = '\(schema)'::regnamespace AND relname LIKE 'Note.%'); END $$")
            #expect(watching.lines(1) == ["a unknown"], "\(links)")
            tell(other, "execute")
            #expect(watching.lines(1) == ["a unknown"])
        }
    }

    @Test(.enabled(if: server != nil)) func aLostConnectionIsReplaced() throws {
        try withPrograms("postgresql") { _, watching, other in
            for _ in 0..<2 {
                try psql(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() "
                        + "AND (query LIKE '%\(schema)%polystore_watch%' OR query LIKE '%pg_locks%\(schema)%')")
                #expect(watching.lines(1) == ["a unknown"])
                tell(other, "insert")
                #expect(watching.lines(1) == ["a history"])
            }
        }
    }

    /// A transaction that wrote before anybody asked to be told, and commits afterwards.
    @Test(.enabled(if: server != nil)) func aTransactionBegunBeforeTheWatchIsReported() throws {
        try withPrograms("postgresql") { _, watching, other in
            tell(other, "insert")
            #expect(watching.lines(1) == ["a history"])
            tell(watching, "cancel a")
            // As if nobody had asked for a long time.
            try psql("SELECT setval('\(schema).polystore_watched', 0)")
            let slow = Process()
            slow.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let sql = "BEGIN; UPDATE \(schema).\"Note\" SET number = 3; SELECT pg_sleep(2); COMMIT"
            slow.arguments = ["psql", "-X", "-q", "-c", sql, "-d", Self.server ?? ""]
            slow.standardOutput = FileHandle.nullDevice
            try slow.run()
            Thread.sleep(forTimeInterval: 1)
            tell(watching, "watch b")
            #expect(watching.lines(1) == ["b unknown"])
            slow.waitUntilExit()
            #expect(slow.terminationStatus == 0)
        }
    }

    @Test func notificationsContinueAfterAServerRestart() throws {
        guard let server = OwnServer() else { return }
        defer { server.remove() }
        let watching = try HelperProcess(["--peer", server.url])
        #expect(watching.lines(1) == ["ready"])
        tell(watching, "watch a")
        try server.stop()
        try server.start()
        #expect(watching.lines(1) == ["a unknown"])
        let other = try HelperProcess(["--peer", server.url])
        #expect(other.lines(1) == ["ready"])
        tell(other, "insert")
        // The programs are ended, not let go: the server has inherited what they read from.
        #expect(watching.lines(1) == ["a history"])
    }
}
