#if os(Linux)
import Foundation
import PolystoreStorage
import RawSessions
import Testing

@testable import PolystorePostgreSQL

/// The memory that reading takes does not depend on the sizes of the rows before.
@Suite(.serialized, .enabled(if: TestServer.url != nil, "needs a PostgreSQL server; .ci/run starts one"))
struct PostgreSQLMemoryTests {
    private static let short = 5_000, long = 400

    /// A store of many short rows, followed by rows of a megabyte.
    private func store() throws -> TestStore {
        let test = try TestStore()
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
        #expect(growth < 256 << 20)
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
