#if os(Linux)
import Foundation
import PolystoreStorage
import RawSessions
import Testing

@testable import PolystorePostgreSQL

/// The memory that reading takes does not depend on the sizes of the rows before.
@Suite(.serialized, .enabled(if: TestServer.url != nil, "needs a PostgreSQL server; .ci/run starts one"))
struct PostgreSQLMemoryTests {
    private static let short = 5_000, long = 200

    /// A store of many short rows, followed by rows of a megabyte.
    private func store(_ column: String? = nil) throws -> TestStore {
        let test = try TestStore()
        if let column { try TestStore.admin().execute("ALTER TABLE \"\(test.name)\".\"Note\" ALTER COLUMN \(column)") }
        let insert = "INSERT INTO \"\(test.name)\".\"Note\" (\"_id\", \"_version\", \"text\", \"data\") SELECT i, 1,"
        let admin = try TestStore.admin()
        try admin.execute("\(insert) 'short', NULL FROM generate_series(1, \(Self.short)) i")
        let last = Self.short + Self.long
        try admin.execute("\(insert) 'long', convert_to(repeat('x', 1048576), 'UTF8') FROM generate_series(\(Self.short + 1), \(last)) i")
        return test
    }

    /// The bytes of memory that the process uses.
    private func used() throws -> Int {
        let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ").dropFirst().first
        return try #require(pages.flatMap { Int($0) }) * 4096
    }

    /// Reads all rows. Returns the growth of the memory.
    private func growth(_ plan: FetchPlan, _ test: TestStore, _ work: (any StorageReader, RowBatch) throws -> Void = { _, _ in }) throws
        -> Int
    {
        let reader = try test.store.beginRead(), cursor = try reader.cursor(for: plan), batch = RowBatch(), before = try used()
        defer { reader.end() }
        var most = before, rows = 0, bytes = 0, last: Int64 = 0
        while try cursor.next(into: batch) {
            most = max(most, try used())
            for index in 0..<batch.count {
                let row = batch.row(index)
                #expect(row.key == last + 1)
                last = row.key
                bytes += row[1].bytes.count
            }
            rows += batch.count
            try work(reader, batch)
            most = max(most, try used())
        }
        #expect(rows == Self.short + Self.long && bytes == Self.long << 20)
        return most - before
    }

    @Test func longRowsAfterShortOnesDoNotFillTheMemory() throws {
        let test = try store()
        defer { test.erase() }
        let schema = try TestStore.schema.get()
        // With other tests beside it.
        #expect(try growth(FetchPlan(schema, 0), test) < 128 << 20)
        var limited = FetchPlan(schema, 0)
        limited.limit = Self.short + Self.long
        #expect(try growth(limited, test) < 128 << 20)
    }

    @Test func requestsWhileRowsAreReadKeepAFewRows() throws {
        let test = try store()
        defer { test.erase() }
        let related = RowBatch(),
            growth = try growth(FetchPlan(TestStore.schema.get(), 0), test) { reader, batch in
                related.clear()
                try reader.rows(0, keys: [batch.key(0)], into: related)
                #expect(related.count == 1 && related.key(0) == batch.key(0))
            }
        #expect(growth < 128 << 20)
    }

    /// lz4 shortens these values so far that they stay in their rows, and nothing tells how long they are.
    @Test func rowsAreLongHoweverShortTheServerStoresThem() throws {
        let test = try store("data SET COMPRESSION lz4")
        defer { test.erase() }
        #expect(try growth(FetchPlan(TestStore.schema.get(), 0), test) < 128 << 20)
    }

    /// A step of as many rows as the short ones allow has to be kept, at its first long row or later.
    @Test(arguments: [nil, 900]) func whatIsKeptOfAStepDoesNotFillTheMemory(_ limit: Int?) throws {
        let test = try store()
        defer { test.erase() }
        var plan = FetchPlan(try TestStore.schema.get(), 0), reader = try test.store.beginRead()
        let batch = RowBatch()
        // The sizes of short rows are known.
        let first = try reader.cursor(for: plan)
        for _ in 0..<20 { _ = try first.next(into: batch) }
        reader.end()
        reader = try test.store.beginRead()
        defer { reader.end() }
        if let limit { (plan.limit, plan.offset) = (limit, Self.short + Self.long - limit) }
        let cursor = try reader.cursor(for: plan), before = try used()
        var last = Int64(plan.offset), most = 0, isLong = false
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                #expect(batch.key(index) == last + 1 && (last >= Self.short) == (batch.row(index)[1].bytes.count == 1 << 20))
                last = batch.key(index)
            }
            if !isLong, last > Self.short {
                #expect(try reader.note("nothing") == nil)
                isLong = true
            }
            most = max(most, try used() - before)
        }
        #expect(isLong && last == Self.short + Self.long && most < 128 << 20)
    }

    @Test func aConnectionWhoseBufferHasGrownIsNotKept() throws {
        let test = try TestStore()
        defer { test.erase() }
        let insert = "INSERT INTO \"\(test.name)\".\"Note\" (\"_id\", \"_version\", \"text\", \"data\") SELECT 1, 1, '',"
        try TestStore.admin().execute("\(insert) convert_to(repeat('x', 80 << 20), 'UTF8')")
        let schema = try TestStore.schema.get(), before = try used()
        for _ in 0..<2 {
            let readers = try (0..<4).map { _ in try test.store.beginRead() }
            for reader in readers {
                let batch = RowBatch()
                #expect(try reader.cursor(for: FetchPlan(schema, 0)).next(into: batch) && batch.count == 1)
                reader.end()
            }
        }
        #expect(try used() - before < 160 << 20)
    }

    @Test func anAnswerThatIsNotNeededIsGivenUp() throws {
        let test = try store()
        defer { test.erase() }
        let schema = try TestStore.schema.get(), before = try used()
        do {
            let reader = try test.store.beginRead(), batch = RowBatch()
            for _ in 0..<3 {
                var cursor: (any RowCursor)? = try reader.cursor(for: FetchPlan(schema, 0))
                for _ in 0..<23 { _ = try cursor?.next(into: batch) }
                cursor = nil
                #expect(try reader.note("nothing") == nil)
            }
            // Released in the middle of the long rows.
            let cursor = try reader.cursor(for: FetchPlan(schema, 0))
            for _ in 0..<23 { _ = try cursor.next(into: batch) }
            reader.end()
            #expect(throws: StorageError.self) { try cursor.next(into: batch) }
        }
        #expect(try used() - before < 128 << 20)
        #expect(try test.count() == Self.short + Self.long)
        let reader = try test.store.beginRead()
        #expect(try reader.note("nothing") == nil)
        reader.end()
    }
}
#endif
