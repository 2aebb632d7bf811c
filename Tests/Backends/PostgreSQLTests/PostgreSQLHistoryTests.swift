import Foundation
import PolystoreStorage
import RawSessions
import Synchronization
import Testing

@testable import PolystorePostgreSQL

/// Up to where the history is told on a server, where many transactions run that have nothing to do with the store.
@Suite(.enabled(if: TestServer.url != nil, "needs a PostgreSQL server; .ci/run starts one")) struct PostgreSQLHistoryTests {
    private let name = "polystore_\(UUID().uuidString.lowercased().replacingOccurrences(of: "-", with: ""))"

    private static func schema() throws -> Schema { try Schema(entities: [Entity("Note", attributes: [Attribute("number", .int64)])]) }

    private func withStore(_ body: (PostgreSQLStore) throws -> Void) throws {
        let store = PostgreSQLStore(conninfo: try #require(TestServer.url), schema: name)
        defer { try? store.erase() }
        _ = try store.open(OpenRequest(schema: Self.schema()))
        try body(store)
    }

    private static func add(_ writer: any StorageWriter) throws {
        let key = try writer.reserveKeys(0, count: 1).lowerBound
        let row = RowSource(count: 1) { _, batch in batch.appendRow(key: key, version: 1, entity: 0, slots: 1)[0] = .int(1) }
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, inserts: row)]))
    }

    private static func write(_ store: PostgreSQLStore) throws -> HistoryToken? {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        try add(writer)
        return try writer.commit(CommitRecord())
    }

    private func read<R>(_ store: PostgreSQLStore, _ body: (any StorageReader) throws -> R) throws -> R {
        let reader = try store.beginRead()
        defer { reader.end() }
        return try body(reader)
    }

    /// A connection whose transaction has an id and stays open.
    private func busy(_ conninfo: String) throws -> PostgreSQLConnection {
        let connection = try PostgreSQLConnection(conninfo: conninfo, schema: "public")
        _ = try connection.text("BEGIN; SELECT pg_current_xact_id()")
        return connection
    }

    private func isComplete(_ store: PostgreSQLStore) throws {
        let written = [try Self.write(store), try Self.write(store)]
        let reader = try store.beginSettledRead()
        defer { reader.end() }
        #expect(try reader.history(since: nil, limit: 100).map(\.token) == written)
        #expect(try reader.currentToken() == written[1])
        #expect(try reader.historyLag() == HistoryLag())
    }

    // MARK: Prepared transactions

    /// A prepared transaction of another program can end after the server has looked at its lock and before it looks for its name. A session
    /// that cannot decide whose an ID is ends its history before it. That is rare, and the next session decides again.
    @Test func preparedTransactionsThatEndDelayAlmostNothing() throws {
        try withStore { store in
            let isOver = Mutex(false), ended = DispatchSemaphore(value: 0), programs = 0..<4
            for number in programs {
                nonisolated(unsafe) let other = try PostgreSQLConnection(conninfo: #require(TestServer.url), schema: "public")
                let prepared = "\(name)_other_\(number)"
                Thread.detachNewThread {
                    while !isOver.withLock({ $0 }) {
                        try? other.execute("BEGIN; SELECT pg_current_xact_id(); PREPARE TRANSACTION '\(prepared)'")
                        Thread.sleep(forTimeInterval: .random(in: 0...0.002))
                        try? other.execute("COMMIT PREPARED '\(prepared)'")
                    }
                    ended.signal()
                }
            }
            defer {
                isOver.withLock { $0 = true }
                for _ in programs { ended.wait() }
            }
            let end = ContinuousClock.now + .seconds(2)
            var late = 0, rounds = 0
            while ContinuousClock.now < end {
                let written = try Self.write(store)
                rounds += 1
                if try read(store, { try $0.currentToken() }) == written { continue }
                late += 1
                #expect(try (0..<10).contains { _ in try read(store) { try $0.currentToken() } == written })
            }
            #expect(late <= 1 + rounds / 100)
        }
    }

    @Test func noCommitIsDeliveredPastAPreparedTransactionOfTheStore() throws {
        try withStore { store in
            let writer = try #require(try store.beginWrite(WriteOptions()) as? PostgreSQLWriter)
            defer { writer.end() }
            try Self.add(writer)
            let commit = try writer.commitToken(for: CommitRecord()), prepared = try writer.prepare(for: commit, CommitRecord())
            let later = try Self.write(store)
            #expect(try read(store) { try $0.history(since: nil, limit: 100).isEmpty && $0.hasUnsettledHistory() })
            try store.endPrepared(for: commit, commits: true)
            #expect(try settledTokens(store) == [prepared, later])
        }
    }

    @Test func aPreparedTransactionOfAnotherStoreDelaysNothing() throws {
        try withStore { store in
            let admin = try busy(try #require(TestServer.url)), other = "other/\(name)"
            try admin.execute("PREPARE TRANSACTION '\(other)'")
            defer { try? admin.execute("ROLLBACK PREPARED '\(other)'") }
            try isComplete(store)
        }
    }

    // MARK: Changes that are not recorded

    /// The tokens of the whole history.
    private func settledTokens(_ store: PostgreSQLStore) throws -> [HistoryToken?] {
        let reader = try store.beginSettledRead()
        defer { reader.end() }
        return try reader.history(since: nil, limit: 100).map(\.token)
    }

    /// A write session that sees an entry as the newest settled one. Transactions of other tests can withhold it for a moment.
    private func beginWrite(_ store: PostgreSQLStore, seeing token: HistoryToken?) throws -> any StorageWriter {
        let end = Date(timeIntervalSinceNow: 30)
        while true {
            let writer = try store.beginWrite(WriteOptions())
            if try writer.currentToken() == token { return writer }
            writer.end()
            if Date() > end { throw StorageError(.busy, "no session sees the history as required") }
            Thread.sleep(forTimeInterval: 0.01)
        }
    }

    /// Another program over a store that has an entry, and a connection to the tables.
    private func withProgram(
        recordsHistory: Bool, _ body: (PostgreSQLStore, PostgreSQLConnection, _ before: HistoryToken) throws -> Void
    ) throws {
        try withStore { store in
            let before = try #require(try Self.write(store)), url = try #require(TestServer.url)
            let program = PostgreSQLStore(conninfo: url, schema: name, recordsHistory: recordsHistory)
            _ = try program.open(OpenRequest(schema: Self.schema()))
            defer { try? program.close() }
            try body(program, try PostgreSQLConnection(conninfo: url, schema: name), before)
        }
    }

    private func code(_ body: () throws -> Void) -> StorageError.Code? {
        do { try body() } catch { return (error as? StorageError)?.code }
        return nil
    }

    /// Commits while somebody else has changed where the history begins since the transaction began.
    private func fail(_ store: PostgreSQLStore, _ other: PostgreSQLConnection, _ change: String) throws {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        try Self.add(writer)
        try other.execute(change)
        #expect(code { _ = try writer.commit(CommitRecord()) } == .serializationFailure)
    }

    private static let off = "INSERT INTO polystore_notes VALUES('history.floor', '0 off')"

    @Test func aCommitThatFailsDoesNotResumeTheHistory() throws {
        try withProgram(recordsHistory: true) { store, other, before in
            try other.execute(Self.off)
            try fail(store, other, "UPDATE polystore_notes SET value = value WHERE name = 'history.floor'")
            let next = try Self.write(store), last = try Self.write(store)
            #expect(try settledTokens(store) == [next, last])
            #expect(code { try read(store) { _ = try $0.history(since: before, limit: 1) } } == .tokenExpired)
        }
    }

    @Test func aCommitThatFailsDoesNotHideThatChangesAreLeftOut() throws {
        try withProgram(recordsHistory: false) { store, other, _ in
            try fail(store, other, "INSERT INTO polystore_notes VALUES('history.floor', '0')")
            try other.execute("DELETE FROM polystore_notes WHERE name = 'history.floor'")
            #expect(try Self.write(store) == nil)
            #expect(try other.text("SELECT convert_from(value, 'UTF8') FROM polystore_notes WHERE name = 'history.floor'") == "0 off")
        }
    }

    /// The entry of the one with the lower token would be before the beginning of the history.
    @Test func ofTwoTransactionsThatResumeTheHistoryOneMustRetry() throws {
        try withProgram(recordsHistory: true) { store, other, _ in
            try other.execute(Self.off)
            let older = try store.beginWrite(WriteOptions())
            defer { older.end() }
            try Self.add(older)
            let first = try Self.write(store)
            #expect(code { _ = try older.commit(CommitRecord()) } == .serializationFailure)
            older.end()
            let second = try Self.write(store)
            #expect(try settledTokens(store) == [first, second])
        }
    }

    @Test func nothingIsAfterTheGreatestToken() throws {
        try withProgram(recordsHistory: true) { store, _, before in
            let last = HistoryToken(store: before.store, position: .max)
            let found = try read(store) { try $0.history(since: last, limit: 1) }
            #expect(found.isEmpty)
        }
    }

    @Test(arguments: ["01070201", "0400050201", "020020000201", "05000201010900"]) func changesOfItemsOutsideOfTheModelAreCorrupted(
        _ changes: String
    ) throws {
        try withProgram(recordsHistory: true) { store, other, _ in
            try other.execute("UPDATE polystore_history SET changes = '\\x\(changes)'")
            #expect(code { _ = try settledTokens(store) } == .corrupted)
        }
    }

    // MARK: What settles

    @Test func aTransactionInAnotherDatabaseDelaysNothing() throws {
        let url = try #require(TestServer.url), admin = try PostgreSQLConnection(conninfo: url, schema: "public")
        try admin.execute("CREATE DATABASE \(name) TEMPLATE template0")
        defer { try? admin.execute("DROP DATABASE \(name) WITH (FORCE)") }
        try withStore { store in
            let other = try busy(TestServer.url(database: name))
            try isComplete(store)
            try other.execute("COMMIT")
        }
    }

    @Test func watchersWaitForRunningWriters() throws {
        try withStore { store in
            let connections = try (0..<4).map { _ in try PostgreSQLConnection(conninfo: try #require(TestServer.url), schema: name) }
            let telling = PostgreSQLTelling(connections[0], name)
            // The server remembers what the first has read for as long as the second runs.
            for reader in connections[1...2] { try reader.execute("BEGIN ISOLATION LEVEL SERIALIZABLE; SELECT count(*) FROM \"Note\"") }
            try connections[1].execute("INSERT INTO polystore_notes VALUES('x', ''); COMMIT")
            let remembered =
                "SELECT mode FROM pg_locks WHERE relation = '\"Note\"'::regclass AND pid <> pg_backend_pid() GROUP BY mode ORDER BY mode COLLATE \"C\""
            try connections[3].execute("BEGIN; LOCK TABLE \"Note\" IN SHARE UPDATE EXCLUSIVE MODE")
            #expect(
                try connections[0].text("SELECT string_agg(mode, ' ') FROM (\(remembered)) AS modes")
                    == "AccessShareLock SIReadLock ShareUpdateExclusiveLock")
            #expect(try telling.writers() == [])
            for change in ["DELETE FROM \"Note\"", "TRUNCATE \"Note\""] {
                try connections[2].execute("ROLLBACK")
                try connections[3].execute("ROLLBACK; BEGIN; \(change)")
                #expect(try telling.writers().count == 1, "\(change)")
            }
            try connections[3].execute("COMMIT")
            #expect(try telling.writers() == [])
        }
    }

    /// A transaction that changed rows when nobody asked to be told is known to the first who asks, and to who asks while changes are told.
    @Test func laterWatchersWaitForRunningWritersToo() throws {
        try withStore { first in
            let url = try #require(TestServer.url), second = PostgreSQLStore(conninfo: url, schema: name)
            _ = try second.open(OpenRequest(schema: Self.schema()))
            defer { try? second.close() }
            let slow = try PostgreSQLConnection(conninfo: url, schema: name), told = DispatchSemaphore(value: 0)
            try slow.execute("BEGIN; DELETE FROM \"Note\"")
            let one = try first.watchChanges { _ in }
            let two = try second.watchChanges { if $0 == .unknown { told.signal() } }
            try slow.execute("COMMIT")
            #expect(told.wait(timeout: .now() + 10) == .success)
            one?.cancel()
            two?.cancel()
        }
    }

    @Test func aWatchThatMissedNotificationsReceivesAnUnknownChange() throws {
        try withStore { store in
            let other = try PostgreSQLConnection(conninfo: try #require(TestServer.url), schema: name), told = DispatchSemaphore(value: 0)
            let one = try store.watchChanges { if $0 == .unknown { told.signal() } }
            try other.execute("SELECT setval('polystore_watched', 0); DELETE FROM \"Note\"")
            // Another watch asks for changes at once.
            let two = try store.watchChanges { _ in }
            #expect(told.wait(timeout: .now() + 10) == .success)
            one?.cancel()
            two?.cancel()
        }
    }

    @Test func aTransactionOnOtherTablesDelaysNothing() throws {
        try withStore { store in
            let other = try busy(#require(TestServer.url))
            try other.execute("CREATE TEMP TABLE t(a int); SAVEPOINT s; INSERT INTO t VALUES(1)")
            try isComplete(store)
            try other.execute("COMMIT")
        }
    }

    @Test func writersOfAnotherStoreDelayNothing() throws {
        try withStore { store in
            let other = PostgreSQLStore(conninfo: try #require(TestServer.url), schema: name + "_b")
            defer { try? other.erase() }
            _ = try other.open(OpenRequest(schema: Self.schema()))
            let writer = try other.beginWrite(WriteOptions())
            defer { writer.end() }
            try Self.add(writer)
            try isComplete(store)
        }
    }

    /// The session's snapshot has the transaction in progress, and no process holds its ID when the session reads the locks.
    @Test(arguments: ["COMMIT", "ROLLBACK", "writer"]) func aTransactionThatEndsWhileASessionBeginsDelaysNothing(_ end: String) throws {
        try withStore { store in
            let other = end == "writer" ? nil : try busy(#require(TestServer.url))
            let idle = try store.beginWrite(WriteOptions())
            defer { idle.end() }
            if end == "writer" { try Self.add(idle) }
            let written = try Self.write(store), reader = try store.beginRead()
            defer { reader.end() }
            try other?.execute(end)
            if end == "writer" { idle.end() }
            #expect(try reader.history(since: nil, limit: 100).map(\.token) == [written])
            #expect(try !reader.hasUnsettledHistory())
        }
    }

    /// The second connection, which looks for the entry of a transaction that has ended, does not wait for the lock.
    @Test(.timeLimit(.minutes(2))) func theHorizonDoesNotWaitBeyondTheLimitOfItsSession() throws {
        try withStore { store in
            let written = try Self.write(store), other = try busy(#require(TestServer.url)), locking = try busy(#require(TestServer.url))
            let limit = WorkLimit(timeout: .seconds(1)), reader = try store.beginRead(ReadOptions(limit: limit))
            defer { reader.end() }
            try other.execute("COMMIT")
            try locking.execute("LOCK TABLE \"\(name)\".polystore_history IN ACCESS EXCLUSIVE MODE")
            #expect(code { _ = try reader.history(since: nil, limit: 100) } == .timeout)
            try locking.execute("ROLLBACK")
            #expect(try settledTokens(store) == [written])
        }
    }

    /// A purge removes the entry of the older writer, which the session does not see, from the table.
    @Test(arguments: [false, true]) func aWriterThatCommitsWhileASessionBeginsDelaysItsHistory(_ isPurged: Bool) throws {
        try withStore { store in
            let older = try store.beginWrite(WriteOptions())
            defer { older.end() }
            try Self.add(older)
            let newer = try Self.write(store), reader = try store.beginRead()
            defer { reader.end() }
            let late = try older.commit(CommitRecord())
            older.end()
            if isPurged {
                let purging = try beginWrite(store, seeing: newer)
                defer { purging.end() }
                try purging.purgeHistory(through: try #require(late))
                #expect(try purging.commit(CommitRecord()) == nil)
            }
            #expect(try reader.history(since: nil, limit: 100).isEmpty && reader.hasUnsettledHistory())
            if !isPurged { #expect(try settledTokens(store) == [late, newer]) }
        }
    }

    @Test func anOlderWriterOfTheStoreDelaysTheHistory() throws {
        try withStore { store in
            let first = try Self.write(store), older = try store.beginWrite(WriteOptions())
            defer { older.end() }
            try Self.add(older)
            let start = Int64(Date().timeIntervalSince1970 * 1_000_000) - 1_000_000
            let newer = try Self.write(store)
            let early = try store.beginRead { reader throws(StorageError) in try reader.currentToken() == first }
            defer { early.end() }
            #expect(try early.history(since: nil, limit: 100).map(\.token) == [first])
            #expect(try early.hasUnsettledHistory())
            let lag = try early.historyLag()
            #expect(lag.entries == 1 && (lag.oldest ?? 0) > start)
            // What may still appear is not purged, and the first entry is, because this session sees it as settled.
            let purging = try beginWrite(store, seeing: first)
            defer { purging.end() }
            try purging.purgeHistory(through: try #require(newer))
            #expect(try purging.commit(CommitRecord()) == nil)
            let late = try older.commit(CommitRecord())
            #expect(try #require(late).position < #require(newer).position)
            let tokens = try settledTokens(store)
            #expect(tokens == [late, newer])
            // A session that began while the older one ran does not see its entry, so it cannot tell the newer one.
            #expect(try early.history(since: first, limit: 10).isEmpty)
            #expect(try early.hasUnsettledHistory())
        }
    }

    @Test func aWriterWithoutWritesDelaysNothing() throws {
        try withStore { store in
            let idle = try store.beginWrite(WriteOptions())
            defer { idle.end() }
            _ = try idle.note("x")
            try isComplete(store)
        }
    }

    /// Whether somebody is at work.
    private final class Work: Sendable {
        private let lock = WriteLane()
        nonisolated(unsafe) private var writers = 4
        nonisolated(unsafe) private var failures = 0
        nonisolated(unsafe) private var written: [Int64] = []

        /// The lane keeps the threads apart.
        private func locked<R>(_ body: () -> R) -> R? {
            guard (try? lock.enter(timeout: 60)) != nil else { return nil }
            defer { lock.leave() }
            return body()
        }

        var isGoingOn: Bool { locked { writers > 0 } ?? false }
        func finish() { _ = locked { writers -= 1 } }
        func fail() { _ = locked { failures += 1 } }
        func add(_ token: HistoryToken?) { _ = locked { if let token { written.append(token.position) } } }
        var outcome: (positions: [Int64], failures: Int) { (written.sorted(), failures) }
    }

    @Test func shortTransactionsOfOthersLeaveNoGaps() throws {
        try withStore { store in
            let url = try #require(TestServer.url), work = Work(), group = DispatchGroup()
            func thread(_ body: @escaping @Sendable () throws -> Void) {
                group.enter()
                Thread.detachNewThread {
                    do { try body() } catch { work.fail() }
                    group.leave()
                }
            }
            for _ in 0..<3 {
                thread {
                    let connection = try PostgreSQLConnection(conninfo: url, schema: "public")
                    while work.isGoingOn { _ = try connection.text("BEGIN; SELECT pg_current_xact_id(); COMMIT") }
                }
            }
            for _ in 0..<4 {
                thread {
                    defer { work.finish() }
                    for _ in 0..<40 {
                        do { work.add(try Self.write(store)) } catch let error as StorageError where error.code == .serializationFailure {}
                    }
                }
            }
            var told: [Int64] = [], token: HistoryToken?, isOver = false
            while true {
                let wasOver = isOver
                isOver = !work.isGoingOn
                let reader = try store.beginRead()
                defer { reader.end() }
                let page = try reader.history(since: token, limit: 5)
                told += page.map(\.token.position)
                token = page.last?.token ?? token
                if page.isEmpty, wasOver, try !reader.hasUnsettledHistory() { break }
            }
            group.wait()
            #expect(told == work.outcome.positions)
            #expect(told.count > 100 && work.outcome.failures == 0)
        }
    }
}
