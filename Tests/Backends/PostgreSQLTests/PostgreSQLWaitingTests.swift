import Foundation
import PolystoreStorage
import RawSessions
import Synchronization
import Testing

@testable import PolystorePostgreSQL

/// Every wait for a server has an end, and nothing stays behind of what was interrupted.
@Suite(.enabled(if: TestServer.url != nil, "needs a PostgreSQL server; .ci/run starts one")) struct PostgreSQLWaitingTests {
    private func code(_ body: () throws -> Void) -> StorageError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? StorageError)?.code
        }
    }

    /// So that a test fails instead of hanging.
    private func soon<R: Sendable>(_ body: @escaping @Sendable () throws -> R) throws -> R {
        let answer = Answer<R>(), isThere = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let result = Result { try body() }
            answer.result.withLock { $0 = result }
            isThere.signal()
        }
        guard isThere.wait(timeout: .now() + 60) == .success, let result = answer.result.withLock({ $0 }) else {
            throw StorageError(.corrupted, "it hangs")
        }
        return try result.get()
    }

    private final class Answer<R: Sendable>: Sendable {
        let result = Mutex<Result<R, any Error>?>(nil)
    }

    /// The locks of the store's writers that are held.
    private func locks(_ test: TestStore) throws -> Int {
        let lock = try test.store.opened().lock
        let high = UInt32(truncatingIfNeeded: lock >> 32), low = UInt32(truncatingIfNeeded: lock)
        let count = try TestStore.admin().text(
            "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = \(high) AND objid = \(low)")
        return Int(count ?? "") ?? -1
    }

    private func noLockStays(_ test: TestStore) throws {
        // A closed connection is gone a moment later.
        for _ in 0..<200 where try locks(test) > 0 { Thread.sleep(forTimeInterval: 0.05) }
        #expect(try locks(test) == 0)
    }

    @Test func aDeadlineEndsARunningStatement() throws {
        let test = try TestStore()
        defer { test.erase() }
        for _ in 0..<3 {
            let reader = try test.store.beginRead(ReadOptions(limit: WorkLimit(timeout: .milliseconds(300))))
            defer { reader.end() }
            let error = #expect(throws: StorageError.self) { _ = try reader.rawRows("SELECT pg_sleep(100)") }
            #expect(error?.code == .timeout)
            // The server has ended it: the connection was not given up.
            #expect((error?.cause as? StorageError)?.code == .timeout)
        }
        let writer = try test.store.beginWrite(WriteOptions(limit: WorkLimit(timeout: .milliseconds(300))))
        try test.insert(writer, "never")
        #expect(code { _ = try writer.rawRows("SELECT pg_sleep(100)") } == .timeout)
        #expect(code { _ = try writer.commit(CommitRecord()) } == .timeout)
        writer.end()
        try noLockStays(test)
        try test.insert("later")
        #expect(try test.count() == 1)
    }

    @Test func aCancelledStatementLeavesNoLockAndCancelsNoOther() throws {
        let test = try TestStore()
        defer { test.erase() }
        for round in 0..<30 {
            let limit = WorkLimit()
            let writer = try test.store.beginWrite(WriteOptions(limit: limit))
            Thread.detachNewThread {
                Thread.sleep(forTimeInterval: Double(round) / 3000)
                limit.cancel()
            }
            #expect(code { while true { _ = try writer.rawRows("SELECT 1::int8 FROM pg_sleep(0.001)") } } == .cancelled)
            writer.end()
            // Whoever comes next has a connection of which nothing is on its way.
            try test.insert("\(round)")
        }
        try noLockStays(test)
        #expect(try test.count() == 30)
    }

    @Test func aSessionThatWasCancelledBeforeItBeganDoesNotBegin() throws {
        let test = try TestStore()
        defer { test.erase() }
        let limit = WorkLimit()
        limit.cancel()
        #expect(code { _ = try test.store.beginRead(ReadOptions(limit: limit)) } == .cancelled)
        #expect(code { _ = try test.store.beginWrite(WriteOptions(limit: limit)) } == .cancelled)
    }

    @Test func waitingForAConnectionEndsWithTheLimit() throws {
        let test = try TestStore("&x-readers=2")
        defer { test.erase() }
        let readers = try [test.store.beginRead(), test.store.beginRead()]
        #expect(code { _ = try test.store.beginRead(ReadOptions(limit: WorkLimit(timeout: .milliseconds(200)))) } == .timeout)
        let limit = WorkLimit()
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.2)
            limit.cancel()
        }
        #expect(code { _ = try test.store.beginRead(ReadOptions(limit: limit)) } == .cancelled)
        for reader in readers { reader.end() }
        let both = try [test.store.beginRead(), test.store.beginRead()]
        for reader in both { reader.end() }
    }

    @Test func waitingForAConnectionEndsWhenTheStoreIsClosed() throws {
        let test = try TestStore("&x-readers=2")
        defer { test.erase() }
        let readers = try [test.store.beginRead(), test.store.beginRead()]
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.2)
            try? test.store.close()
        }
        let start = ContinuousClock.now
        #expect(code { _ = try test.store.beginRead(ReadOptions(limit: WorkLimit(timeout: .seconds(20)))) } == .storeClosed)
        #expect(start.duration(to: .now) < .seconds(10))
        for reader in readers { reader.end() }
    }

    @Test func aWriterThatWaitsForTheLockOfOthersDoesNotBeginInAClosedStore() throws {
        let test = try TestStore()
        defer { test.erase() }
        let admin = try TestStore.admin(), lock = try test.store.opened().lock
        try admin.execute("SELECT pg_advisory_lock(\(lock))")
        let answer = Answer<Void>(), isThere = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let result = Result { try test.store.beginWrite(WriteOptions(timeout: 20)).end() }
            answer.result.withLock { $0 = result }
            isThere.signal()
        }
        Thread.sleep(forTimeInterval: 0.3)
        try test.store.close()
        try admin.execute("SELECT pg_advisory_unlock(\(lock))")
        #expect(isThere.wait(timeout: .now() + 60) == .success)
        #expect(code { try answer.result.withLock { $0 }?.get() } == .storeClosed)
    }

    @Test func sixteenReadsRunAtOnce() throws {
        let test = try TestStore()
        defer { test.erase() }
        let readers = try (0..<16).map { _ in try test.store.beginRead(ReadOptions(limit: WorkLimit(timeout: .seconds(20)))) }
        for reader in readers { reader.end() }
    }

    @Test func aRowLockIsNotWaitedForLongerThanTheTimeout() throws {
        let test = try TestStore()
        defer { test.erase() }
        try test.insert("contended")
        let admin = try TestStore.admin()
        try admin.execute("BEGIN; LOCK TABLE \"\(test.name)\".\"Note\" IN ACCESS EXCLUSIVE MODE")
        defer { try? admin.execute("ROLLBACK") }
        let refusal = try soon { () -> StorageError.Code? in
            let writer = try test.store.beginWrite(WriteOptions(timeout: 0.2))
            defer { writer.end() }
            do { try test.insert(writer, "waits") } catch { return (error as? StorageError)?.code }
            return nil
        }
        #expect(refusal == .busy)
    }

    @Test func aServerThatNeverAnswersIsAbandoned() throws {
        let proxy = try TestProxy(server: nil)
        defer { proxy.close() }
        let test = try TestStore(host: proxy.folder, creates: false)
        let error = try soon { () -> StorageError.Code? in
            do { _ = try test.store.open(OpenRequest(schema: TestStore.schema.get())) } catch {
                return (error as? StorageError)?.code
            }
            return nil
        }
        #expect(error == .connectionLost)
    }

    @Test func anUnresponsiveServerIsAbandonedAtTheLimit() throws {
        let socket: String = try #require(TestServer.socket)
        let proxy = try TestProxy(server: socket)
        defer { proxy.close() }
        let test = try TestStore(host: proxy.folder)
        defer { test.erase() }
        try test.insert("before")
        // This leaves a connection that lies idle.
        try test.store.beginRead().end()
        proxy.mode = .silent
        let codes = try soon { () -> [StorageError.Code?] in
            // On a connection that lay idle, and on one that has to be made.
            (0..<2).map { _ in
                do {
                    let reader = try test.store.beginRead(ReadOptions(limit: WorkLimit(timeout: .milliseconds(300))))
                    reader.end()
                    return nil
                } catch {
                    return (error as? StorageError)?.code
                }
            }
        }
        #expect(codes == [.timeout, .timeout])
        proxy.mode = .open
        try soon { try test.insert("after") }
        #expect(try test.count() == 2)
    }

    @Test func aReadReturnsAtItsTimeAlthoughTheServerIsUnresponsive() throws {
        let socket: String = try #require(TestServer.socket)
        let proxy = try TestProxy(server: socket)
        defer { proxy.close() }
        let test = try TestStore(host: proxy.folder)
        defer { test.erase() }
        let (error, time) = try soon { () -> (StorageError?, Duration) in
            let reader = try test.store.beginRead(ReadOptions(limit: WorkLimit(reading: .seconds(1))))
            defer { reader.end() }
            proxy.mode = .silent
            let start = ContinuousClock.now
            do { _ = try reader.rawRows("SELECT 1 AS a") } catch { return (error as? StorageError, start.duration(to: .now)) }
            return (nil, .zero)
        }
        #expect(error?.code == .timeout)
        #expect(error?.message == "the read did not end before its timeout")
        #expect(time < .seconds(3), "\(time)")
    }

    @Test func aReadWithoutATimeoutEndsWithThatOfTheStore() throws {
        let socket: String = try #require(TestServer.socket)
        let proxy = try TestProxy(server: socket)
        defer { proxy.close() }
        let test = try TestStore("&x-read-timeout=1", host: proxy.folder)
        defer { test.erase() }
        let code = try soon { () -> StorageError.Code? in
            let reader = try test.store.beginRead()
            defer { reader.end() }
            _ = try reader.rawRows("SELECT pg_sleep(0.5)::text AS a")
            do { _ = try reader.rawRows("SELECT pg_sleep(3)::text AS a") } catch { return (error as? StorageError)?.code }
            return nil
        }
        #expect(code == .connectionLost)
        // Write transactions have no such limit.
        try soon {
            let writer = try test.store.beginWrite(WriteOptions())
            defer { writer.end() }
            _ = try writer.rawRows("SELECT pg_sleep(1.5)::text AS a")
        }
        proxy.mode = .silent
        let silent = try soon { () -> StorageError.Code? in
            do { try test.store.beginRead().end() } catch { return (error as? StorageError)?.code }
            return nil
        }
        #expect(silent == .connectionLost)
        #expect(throws: StorageError.self) { try PostgreSQLStore(url: StoreURL("postgresql:///shop?x-read-timeout=0")) }
    }

    /// Without a limit too: what is asked for at the end takes no time.
    @Test func aSessionEndsAlthoughTheServerIsUnresponsive() throws {
        let socket: String = try #require(TestServer.socket)
        let proxy = try TestProxy(server: socket)
        defer { proxy.close() }
        let test = try TestStore(host: proxy.folder)
        defer { test.erase() }
        nonisolated(unsafe) let reader = try test.store.beginRead()
        proxy.mode = .silent
        try soon { reader.end() }
        proxy.mode = .open
        try soon { try test.store.beginRead().end() }
    }

    @Test func connectionsThatTheServerHasClosedAreReplacedWithoutAnError() throws {
        let test = try TestStore()
        defer { test.erase() }
        for _ in 0..<2 {
            let readers = try (0..<12).map { _ in try test.store.beginRead() }
            let writers = try (0..<4).map { _ in try test.store.beginWrite(WriteOptions()) }
            for reader in readers { reader.end() }
            for writer in writers { writer.end() }
            try TestStore.admin().execute(
                """
                SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity
                WHERE pid <> pg_backend_pid() AND query LIKE '%\(try test.store.opened().lock)%'
                """)
            for number in 0..<12 {
                #expect(code { try test.store.beginRead().end() } == nil, "read \(number)")
                #expect(code { try test.insert("again") } == nil, "write \(number)")
            }
        }
    }

    /// Otherwise the server would answer that the transaction was aborted, and nobody would learn why.
    @Test func theErrorOfAStatementSentAheadIsReportedByTheNextRequest() throws {
        let connection = try TestStore.admin()
        try connection.execute("BEGIN; DECLARE divided CURSOR FOR SELECT 1 / (50 - number) FROM generate_series(1, 100) number")
        let answer = try connection.begin(PostgreSQLStep("FETCH 100 FROM divided"))
        func state(_ body: () throws -> Void) -> String? {
            do { try body() } catch { return ((error as? StorageError)?.cause as? PostgreSQLError.Cause)?.state }
            return nil
        }
        #expect(state { _ = try connection.text("SELECT 1") } == "22012")
        #expect(state { _ = try connection.pipeline([PostgreSQLStep("SELECT 1")]) } == "22012")
        #expect(state { _ = try connection.nextPart(of: answer) } == "22012")
        let isUsable = connection.end { connection throws(StorageError) in
            try connection.execute("ROLLBACK")
            return true
        }
        #expect(isUsable)
        #expect(try connection.text("SELECT 1") == "1")
    }

    @Test func aSessionEndsWithoutTheAnswerToAStatementSentAhead() throws {
        let quick = try TestStore.admin(), slow = try TestStore.admin()
        _ = try quick.begin(PostgreSQLStep("SELECT 1"))
        #expect(quick.end { _ in true })
        _ = try slow.begin(PostgreSQLStep("SELECT pg_sleep(5)"))
        // The connection is given up instead.
        #expect(!slow.end { _ in true })
    }

    @Test func aTransactionThatWritesSendsNothingAhead() throws {
        let test = try TestStore()
        defer { test.erase() }
        let writer = try test.store.beginWrite(WriteOptions()), reader = try test.store.beginRead()
        #expect((writer as? PostgreSQLReader)?.sendsAhead == false)
        #expect((reader as? PostgreSQLReader)?.sendsAhead == true)
        writer.end()
        reader.end()
    }

    @Test func aPoolThatGivesEachTransactionAnotherConnectionIsRefused() throws {
        let connection = try TestStore.admin()
        #expect(throws: Never.self) { try connection.checkBackend(connection.text("SELECT pg_backend_pid()")) }
        let error = #expect(throws: StorageError.self) { try connection.checkBackend("1") }
        #expect(error?.code == .unsupported)
        #expect(!connection.isUsable || code { try connection.execute("SELECT") } == .connectionLost)
    }
}
