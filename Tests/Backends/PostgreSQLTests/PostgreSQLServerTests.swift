import Foundation
import PolystoreSQL
import PolystoreStorage
import RawSessions
import Synchronization
import Testing

@testable import PolystorePostgreSQL

/// What is asked of a server, and what it is asked to do.
@Suite(.enabled(if: TestServer.url != nil, "needs a PostgreSQL server; .ci/run starts one")) struct PostgreSQLServerTests {
    @Test func onlyLoopbackAddressesAndSocketsAreLocal() throws {
        func isLocal(_ host: String) throws -> Bool { try PostgreSQLAddress("host=\(host)").isLocal }
        for host in ["127.0.0.1", "127.1.2.3", "localhost", "::1", "/tmp"] { #expect(try isLocal(host), "\(host)") }
        for host in ["127.example.com", "127.0.0.1.example.com", "127.", "128.0.0.1", "example.com"] {
            #expect(try !isLocal(host), "\(host)")
        }
    }

    @Test func connectionsEnableTheClientConnectionCheck() throws {
        let admin = try TestStore.admin()
        guard try admin.text("SELECT version() LIKE '%linux%'") == "t" else { return }
        #expect(try admin.text("SHOW client_connection_check_interval") == "10s")
    }

    /// It is the connection that has opened the store.
    @Test func aProgramThatReadsAndWritesInTurnHasOneConnection() throws {
        let test = try TestStore()
        defer { test.erase() }
        let core = try test.store.opened()
        /// The server process of the only idle connection.
        func process() throws -> String {
            let connection = try #require(core.idle.take())
            #expect(core.idle.take() == nil)
            core.idle.add(connection)
            return connection.backend
        }
        let opening = try process()
        for _ in 0..<2 {
            try test.insert("text")
            #expect(try process() == opening)
            try test.store.beginRead().end()
            #expect(try process() == opening)
        }
    }

    /// A role or a program can limit the waits of all its statements.
    @Test func aWriterLeavesTheConnectionItsLockTimeout() throws {
        let test = try TestStore("&options=-c%20lock_timeout%3D5s")
        defer { test.erase() }
        try test.insert("text")
        let connection = try #require(test.store.opened().idle.take())
        #expect(try connection.text("SHOW lock_timeout") == "5s")
    }

    @Test func aCommitThatRollsBackIsAnError() throws {
        let admin = try TestStore.admin()
        try admin.execute("BEGIN")
        try? admin.execute("SELECT 1 / 0")
        let error = #expect(throws: StorageError.self) { try admin.commit(orSaying: "") }
        #expect(error?.code == .storeClosed)
        try admin.execute("BEGIN")
        try admin.commit(orSaying: "")
    }

    /// Keys that one program was given are given to no other, whatever a third one does to the counter meanwhile.
    @Test func raisingTheKeySequenceAssignsNoKeyTwice() throws {
        let test = try TestStore(), others = try (0..<3).map { _ in try TestStore(name: test.name) }
        defer {
            for other in others { try? other.store.close() }
            test.erase()
        }
        let given = Mutex<[Range<Int64>]>([]), failures = Mutex<[any Error]>([]), end = Date() + 2
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            do {
                if number == 3 { return try raise(test.store, given, until: end) }
                while Date() < end {
                    let writer = try others[number].store.beginWrite(WriteOptions())
                    defer { writer.end() }
                    for _ in 0..<20 {
                        let range = try writer.reserveKeys(0, count: 1000)
                        given.withLock { $0.append(range) }
                    }
                }
            } catch { failures.withLock { $0.append(error) } }
        }
        #expect(failures.withLock { $0.isEmpty })
        let ranges = given.withLock { $0 }.sorted { $0.lowerBound < $1.lowerBound }
        #expect(ranges.count > 100)
        #expect(zip(ranges, ranges.dropFirst()).allSatisfy { $0.upperBound <= $1.lowerBound })
    }

    /// Loads rows whose keys are a little above those that were given last.
    private func raise(_ store: PostgreSQLStore, _ given: borrowing Mutex<[Range<Int64>]>, until end: Date) throws {
        while Date() < end {
            let writer = try store.beginWrite(WriteOptions())
            defer { writer.end() }
            let newest = given.withLock { $0.last?.upperBound } ?? 1
            try (writer as? PostgreSQLWriter)?.raiseKeys(0, above: newest + 1500)
        }
    }

    /// Whoever committed it may have died before it notified.
    @Test func observingACommittedPreparedTransactionNotifies() throws {
        let test = try TestStore(), listener = try TestStore(name: test.name), third = try TestStore(name: test.name)
        defer {
            for other in [listener, third] { try? other.store.close() }
            test.erase()
        }
        guard try test.store.keepsPreparedCommits() else { return }
        let signals = Mutex(0), watch = try listener.store.watchChanges { _ in signals.withLock { $0 += 1 } }
        defer { watch?.cancel() }
        let writer = try #require(try test.store.beginWrite(WriteOptions()) as? PostgreSQLWriter)
        try test.insert(writer, "prepared")
        let commit = CommitToken(storeID: UUID(), value: "1"), id = try test.store.opened().storeID
        _ = try writer.prepare(for: commit, CommitRecord())
        try TestStore.admin().execute("COMMIT PREPARED \(PostgreSQLPreparedName(store: id, commit: commit).literal)")
        Thread.sleep(forTimeInterval: 0.5)
        #expect(signals.withLock { $0 } == 0)
        try third.store.endPrepared(for: commit, commits: true)
        for _ in 0..<200 where signals.withLock({ $0 }) == 0 { Thread.sleep(forTimeInterval: 0.05) }
        #expect(signals.withLock { $0 } > 0)
        #expect(try test.count() == 1)
    }

    /// A load, and a store that keeps no history: the server notifies of their statements, which no prepared transaction may have done.
    @Test(arguments: ["", "&x-history=off"]) func changesThatAreNotRecordedCanBePrepared(_ options: String) throws {
        let test = try TestStore(options), listener = try TestStore(name: test.name)
        defer {
            try? listener.store.close()
            test.erase()
        }
        guard try test.store.keepsPreparedCommits() else { return }
        let signals = Mutex<[ChangeSignal]>([]),
            watch = try listener.store.watchChanges { signal in signals.withLock { $0.append(signal) } }
        defer { watch?.cancel() }
        func load(_ key: Int64) throws -> PostgreSQLWriter {
            let writer = try #require(try test.store.beginWrite(WriteOptions(bulk: .whole)) as? PostgreSQLWriter), batch = RowBatch()
            let text = batch.cell(for: .string("loaded")), cells = batch.appendRow(key: key, version: 1, entity: 0, slots: 2)
            cells[0] = text
            cells[1] = .null
            try writer.load(0, batch)
            return writer
        }
        func hears() -> ChangeSignal? {
            for _ in 0..<200 where signals.withLock({ $0.isEmpty }) { Thread.sleep(forTimeInterval: 0.05) }
            return signals.withLock { signals in
                defer { signals = [] }
                return signals.first
            }
        }
        let commit = CommitToken(storeID: UUID(), value: "1")
        _ = try load(1).prepare(for: commit, CommitRecord())
        #expect(signals.withLock { $0.isEmpty })
        try test.store.endPrepared(for: commit, commits: true)
        #expect(hears() == .unknown)
        // And without preparing it notifies as before, once it is committed.
        let writer = try load(2)
        _ = try writer.commit(CommitRecord())
        #expect(hears() == .unknown)
        #expect(try test.count() == 2)
    }
}
