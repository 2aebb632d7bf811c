import Foundation
import PolystoreCatalog
import PolystoreStorage
import RawSessions
import Testing

@testable import PolystoreSQLite

/// Sessions of a SQLite store: their ends, their limits, and what the engine takes from them.
@Suite struct SQLiteSessionTests {
    private static let endlessQuery: RawSQL = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    private static let endlessChange: RawSQL = """
        UPDATE Item SET number = (WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c)
        """

    @Test func aCursorEndsWithItsSession() throws {
        let file = try SQLiteFile()
        try file.add(0..<1000)
        let reader = try file.store.beginRead()
        let cursor = try reader.cursor(for: FetchPlan(entity: 0, entities: [0])), batch = RowBatch()
        #expect(try cursor.next(into: batch))
        reader.end()
        try file.add(1000..<1001)
        // The connection of the session is used again: it has no snapshot left.
        #expect(try file.count() == 1001)
        #expect(code { _ = try cursor.next(into: batch) } == .storeClosed)
    }

    @Test func twoCursorsOfOneStatementDoNotDisturbEachOther() throws {
        let file = try SQLiteFile()
        try file.add(0..<100)
        let reader = try file.store.beginRead(), plan = FetchPlan(entity: 0, entities: [0])
        defer { reader.end() }
        let cursors = try (0..<3).map { _ in try reader.cursor(for: plan) }, batch = RowBatch(), other = RowBatch()
        for _ in 0..<100 {
            for cursor in cursors { #expect(try cursor.next(into: batch)) }
            #expect(try reader.cursor(for: plan).next(into: other))
            #expect(other.key(0) == 1)
        }
        for cursor in cursors { #expect(try !cursor.next(into: batch)) }
    }

    @Test func aReadEndsAtItsDeadline() throws {
        let file = try SQLiteFile()
        let reader = try file.store.beginRead(ReadOptions(limit: WorkLimit(timeout: .milliseconds(100))))
        defer { reader.end() }
        #expect(code { _ = try reader.rawRows(Self.endlessQuery) } == .timeout)
    }

    @Test func aWriteThatIsCancelledLeavesNothing() throws {
        let file = try SQLiteFile(), limit = WorkLimit()
        try file.add(0..<10)
        let writer = try file.store.beginWrite(WriteOptions(limit: limit))
        defer { writer.end() }
        try writer.apply(SQLiteFile.inserting([[.int(100), .null]], from: 100))
        let savepoint = try writer.savepoint()
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.1)
            limit.cancel()
        }
        #expect(code { _ = try writer.execute(Self.endlessChange) } == .cancelled)
        // The engine has rolled the transaction back: what followed would be committed by itself.
        #expect(code { try writer.rollback(to: savepoint) } == .cancelled)
        #expect(code { try writer.apply(SQLiteFile.inserting([[.int(101), .null]], from: 101)) } == .cancelled)
        #expect(code { _ = try writer.commit(CommitRecord()) } == .cancelled)
        #expect(try file.sql("SELECT count(*) FROM Item") == "10")
    }

    @Test func theNextSessionOfAnInterruptedConnectionIsSound() throws {
        let file = try SQLiteFile()
        try file.add(0..<10)
        for _ in 0..<20 {
            let limit = WorkLimit(), reader = try file.store.beginRead(ReadOptions(limit: limit))
            limit.cancel()
            reader.end()
            #expect(try file.count() == 10)
        }
    }

    @Test func aWriterThatWaitsForAnotherProgramEndsAtItsLimit() throws {
        let file = try SQLiteFile()
        let other = try SQLiteStore(url: StoreURL("sqlite:\(file.path)"))
        _ = try other.open(OpenRequest(schema: try SQLiteFile.schema.get()))
        let holder = try other.beginWrite(WriteOptions())
        defer { holder.end() }
        let late = WorkLimit(timeout: .milliseconds(100)), cancelled = WorkLimit()
        #expect(code { _ = try file.store.beginWrite(WriteOptions(limit: late)) } == .timeout)
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.1)
            cancelled.cancel()
        }
        #expect(code { _ = try file.store.beginWrite(WriteOptions(limit: cancelled)) } == .cancelled)
        #expect(code { _ = try file.store.beginWrite(WriteOptions(timeout: 0.1)) } == .busy)
        Thread.detachNewThread { [store = file.store] in
            Thread.sleep(forTimeInterval: 0.1)
            try? store.close()
        }
        let start = ContinuousClock.now
        #expect(code { _ = try file.store.beginWrite(WriteOptions()) } == .storeClosed)
        #expect(start.duration(to: .now) < .seconds(8))
    }

    @Test func aMigrationThatWaitsForAnotherProgramEndsWhenItsStoreIsClosed() throws {
        let file = try SQLiteFile()
        let other = try SQLiteStore(url: StoreURL("sqlite:\(file.path)")), schema = try SQLiteFile.schema.get()
        _ = try other.open(OpenRequest(schema: schema))
        let holder = try other.beginWrite(WriteOptions())
        defer { holder.end() }
        Thread.detachNewThread { [store = file.store] in
            Thread.sleep(forTimeInterval: 0.1)
            try? store.close()
        }
        let step = MigrationStep(SchemaMapping(from: schema, to: schema)), start = ContinuousClock.now
        let store = try #require(file.store as? any MigratingStorage)
        #expect(code { _ = try store.beginMigration(step, WriteOptions()) } == .storeClosed)
        #expect(start.duration(to: .now) < .seconds(8))
    }

    /// As a file of another program does that has no write-ahead log, while that program commits.
    @Test func aReaderThatWaitsForAnotherProgramEndsWhenItsStoreIsClosed() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("polystore_\(UUID().uuidString).db").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let other = try SQLiteConnection(path: path, readOnly: false, create: true)
        try other.execute("PRAGMA journal_mode = DELETE; CREATE TABLE item(id INTEGER PRIMARY KEY, number INTEGER)")
        let store = try SQLiteStore(url: StoreURL("sqlite:\(path)?catalog=foreign"))
        _ = try store.open(OpenRequest(schema: nil, createIfMissing: false))
        try store.beginRead().end()
        try other.execute("BEGIN EXCLUSIVE")
        Thread.detachNewThread {
            Thread.sleep(forTimeInterval: 0.1)
            try? store.close()
        }
        let start = ContinuousClock.now
        #expect(code { try store.beginRead().end() } == .storeClosed)
        #expect(start.duration(to: .now) < .seconds(8))
        try other.execute("ROLLBACK")
    }

    @Test func readsDoNotWaitForEachOther() throws {
        let file = try SQLiteFile()
        try file.add(0..<1)
        let readers = try (0..<40).map { _ in try file.store.beginRead() }
        #expect(try file.count() == 1)
        for reader in readers { reader.end() }
    }

    @Test func aTransactionThatAStatementRolledBackEnds() throws {
        let file = try SQLiteFile()
        try file.add(0..<1)
        let writer = try file.store.beginWrite(WriteOptions())
        defer { writer.end() }
        try writer.apply(SQLiteFile.inserting([[.int(5), .null]], from: 50))
        #expect(
            code { _ = try writer.execute(RawSQL("INSERT OR ROLLBACK INTO Item(_id, _version, number) VALUES(9, 1, 0)")) } == .storeClosed)
        #expect(code { _ = try writer.savepoint() } == .storeClosed)
        #expect(code { _ = try writer.commit(CommitRecord()) } == .storeClosed)
        #expect(try file.sql("SELECT count(*) FROM Item") == "1")
    }

    /// The bytes are memory that was never touched: the engine refuses them by their number.
    @Test func aValueBeyondTheLimitOfTheEngineIsRefused() throws {
        let file = try SQLiteFile(), count = 1_000_000_001
        let memory = try #require(mmap(nil, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))
        defer { munmap(memory, count) }
        for cell in [Cell.blob(UnsafeRawPointer(memory), count)] {
            let writer = try file.store.beginWrite(WriteOptions())
            defer { writer.end() }
            #expect(code { try writer.apply(SQLiteFile.inserting([[.int(1), cell]], from: 1)) } == .valueTooLarge)
            try writer.apply(SQLiteFile.inserting([[.int(2), .null]], from: 2))
            _ = try writer.commit(CommitRecord())
        }
        #expect(try file.sql("SELECT number FROM Item") == "2")
    }
}
