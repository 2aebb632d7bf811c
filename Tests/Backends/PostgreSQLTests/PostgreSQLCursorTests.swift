import Foundation
import PolystoreStorage
import RawSessions
import Testing

@testable import PolystorePostgreSQL

/// What remains of cursors that fail, or that are released before their end.
@Suite(.enabled(if: TestServer.url != nil, "needs a PostgreSQL server; .ci/run starts one")) struct PostgreSQLCursorTests {
    private static let schema = Result {
        try Schema(
            version: "V1",
            entities: [
                Entity(
                    "Note", attributes: [Attribute("text", .string), Attribute("data", .data, isOptional: true)], indexes: [Index(["text"])]
                )
            ])
    }

    private func withStore(_ body: (PostgreSQLStore, String) throws -> Void) throws {
        let name = "polystore_\(UUID().uuidString.lowercased())"
        let store = try PostgreSQLStore(url: StoreURL("\(#require(TestServer.url))&x-schema=\(name)"))
        _ = try store.open(OpenRequest(schema: Self.schema.get()))
        defer { try? store.erase() }
        try body(store, name)
    }

    /// Fills the store with a thousand rows. The version of one of them cannot be read.
    private func fill(_ name: String, failsAt key: Int? = nil) throws {
        let admin = try TestStore.admin(), table = "\"\(name)\".\"Note\""
        try admin.execute(
            "INSERT INTO \(table) (_id, _version, text, data) SELECT i, 1, 't' || i, convert_to(repeat(md5(i::text), 200), 'UTF8') "
                + "FROM generate_series(1, 1000) i")
        guard let key else { return }
        try admin.execute(
            "ALTER TABLE \(table) RENAME TO \"Stored\"; CREATE VIEW \(table) AS SELECT _id, "
                + "_version / (CASE WHEN _id = \(key) THEN 0 ELSE 1 END) AS _version, text, data FROM \"\(name)\".\"Stored\"")
    }

    private func read(_ reader: any StorageReader, _ plan: FetchPlan) throws -> Int {
        let cursor = try reader.cursor(for: plan), batch = RowBatch()
        var count = 0
        while try cursor.next(into: batch) { count += batch.count }
        return count
    }

    private func cursors(_ reader: any StorageReader) throws -> Int64? {
        guard
            case .int(let count)? = try reader.rawRows(RawSQL("SELECT count(*) AS n FROM pg_cursors WHERE name LIKE 'polystore%'")).rows
                .first?.first
        else { return nil }
        return count
    }

    @Test(arguments: [nil, 60, 500]) func aRollbackToASavepointUndoesAFailedRead(_ limit: Int?) throws {
        try withStore { store, name in
            try fill(name, failsAt: 30)
            var plan = FetchPlan(try Self.schema.get(), 0)
            plan.limit = limit
            let writer = try store.beginWrite(WriteOptions())
            defer { writer.end() }
            try writer.setNote("before", Data([1]))
            for _ in 0..<2 {
                let savepoint = try writer.savepoint()
                let error = #expect(throws: StorageError.self) { try read(writer, plan) }
                #expect(error?.code == .divisionByZero)
                try writer.rollback(to: savepoint)
            }
            #expect(try writer.note("before") == Data([1]))
            _ = try writer.commit(CommitRecord())
            let reader = try store.beginRead()
            defer { reader.end() }
            #expect(try reader.note("before") == Data([1]))
        }
    }

    /// libpq would receive the first answer of a pipeline row by row too.
    @Test(arguments: [2, 65, nil]) func aPipelineFollowsRowsThatWereReceivedOneByOne(_ limit: Int?) throws {
        try withStore { store, name in
            try fill(name)
            var plan = FetchPlan(try Self.schema.get(), 0)
            plan.limit = limit
            for isEnded in [true, false] {
                let writer = try #require(try store.beginWrite(WriteOptions()) as? PostgreSQLWriter)
                defer { writer.end() }
                let cursor = try writer.cursor(for: plan), batch = RowBatch(capacity: 2)
                #expect(try cursor.next(into: batch))
                if isEnded { while try cursor.next(into: batch) {} }
                let steps = [PostgreSQLStep("SELECT i::int8 FROM generate_series(1, 3) i"), PostgreSQLStep("SELECT 7::int8")]
                let results = try writer.connection.pipeline(steps)
                #expect(results.map(\.count) == [3, 1] && results[1].integer(0, 0) == 7)
                _ = try writer.commit(CommitRecord())
            }
        }
    }

    @Test func aCursorFromBeforeASavepointOutlivesARollback() throws {
        try withStore { store, name in
            try fill(name)
            let plan = FetchPlan(try Self.schema.get(), 0), writer = try store.beginWrite(WriteOptions())
            defer { writer.end() }
            let outer = try writer.cursor(for: plan), batch = RowBatch(capacity: 10)
            #expect(try outer.next(into: batch))
            let savepoint = try writer.savepoint()
            var inner: (any RowCursor)? = try writer.cursor(for: plan)
            #expect(try inner?.next(into: RowBatch(capacity: 10)) == true)
            try writer.rollback(to: savepoint)
            // The server has no such cursor any more.
            inner = nil
            var count = batch.count
            while try outer.next(into: batch) { count += batch.count }
            #expect(count == 1000)
            try writer.setNote("after", Data())
            _ = try writer.commit(CommitRecord())
        }
    }

    @Test func aReleasedCursorIsClosed() throws {
        try withStore { store, name in
            try fill(name)
            let plan = FetchPlan(try Self.schema.get(), 0), reader = try store.beginRead()
            for _ in 0..<20 { #expect(try reader.cursor(for: plan).next(into: RowBatch(capacity: 10))) }
            #expect(try read(reader, plan) == 1000)
            #expect(try cursors(reader) == 0)
            // A session ends with cursors that are read in the middle.
            let cursor = try reader.cursor(for: plan)
            #expect(try cursor.next(into: RowBatch(capacity: 10)))
            reader.end()
            let next = try store.beginRead()
            defer { next.end() }
            #expect(try cursors(next) == 0 && read(next, plan) == 1000)
        }
    }

    @Test func rowsAreLoadedAfterAReleasedCursor() throws {
        try withStore { store, _ in
            let schema = try Self.schema.get(), writer = try store.beginWrite(WriteOptions()), rows = RowBatch()
            defer { writer.end() }
            _ = try writer.cursor(for: FetchPlan(schema, 0))
            let cell = rows.cell(for: .string("x"))
            let cells = rows.appendRow(key: 1, version: 1, entity: 0, slots: 2)
            (cells[0], cells[1]) = (cell, .null)
            // The indexes of an empty table are dropped and made again, which needs a table that no cursor uses.
            try writer.load(0, rows)
            _ = try writer.commit(CommitRecord())
            let reader = try store.beginRead()
            defer { reader.end() }
            #expect(try read(reader, FetchPlan(schema, 0)) == 1)
        }
    }
}
