import PolystoreInMemory
import PolystoreStorage
import RawSessions
import Testing

@testable import PolystoreKeyValue

/// The keys that a full-text index of an ordered store leads to.
@Suite struct WordSearchTests {
    private static let texts = [
        "red apple", "green apple", "Red pear red", "", "rêd", "apple red", String(repeating: "x", count: 500),
        String(repeating: "x", count: 499), "reddish", "0 1 2 3 4 5 6 7 8 9",
    ]

    private func withReader(_ body: (KeyValueReader, Schema) throws -> Void) throws {
        let schema = try Schema(entities: [
            Entity(
                "Note", attributes: [Attribute("text", .string), Attribute("other", .string)], indexes: [Index(["text"], kind: .fullText)])
        ])
        let store = InMemoryStore()
        _ = try store.open(OpenRequest(schema: schema))
        let writer = try store.beginWrite(WriteOptions())
        let batch = RowBatch(capacity: 600)
        for key in 1...600 {
            let cells = batch.appendRow(key: Int64(key), version: 1, entity: 0, slots: 2)
            // After the first ten all are alike, so that a rare word is looked up among many of a frequent one.
            let text = key <= Self.texts.count ? Self.texts[key - 1] : "frequent \(key % 100 == 0 ? "rare\(key)" : "word")"
            cells[0] = batch.cell(for: .string(text))
            cells[1] = batch.cell(for: .string("red"))
        }
        try writer.load(0, batch)
        _ = try writer.commit(CommitRecord())
        let reader = try #require(try store.beginRead() as? KeyValueReader)
        defer { reader.end() }
        try body(reader, schema)
    }

    private func plan(_ text: String, _ schema: Schema) throws -> FetchPlan {
        try ObjectRequest("Note", where: QueryPredicate(parsing: text)).plan(in: schema)
    }

    @Test func anIndexFindsAllCandidatesOfASearch() throws {
        try withReader { reader, schema in
            func keys(_ query: String) throws -> [Int64]? {
                try WordSearch.keys(plan("text SEARCH '\(query)' AND other == 'red'", schema), reader)?.keys
            }
            func expect(_ query: String, _ wanted: [Int64]) throws {
                let found = try keys(query)
                #expect(found == wanted, "\(query)")
            }
            try expect("red", [1, 3, 5, 6])
            try expect("red*", [1, 3, 5, 6, 9])
            try expect("red apple", [1, 6])
            // Phrases and what must not occur are left to whoever reads the rows.
            try expect("\"red apple\"", [1, 6])
            try expect("red -apple", [1, 3, 5, 6])
            try expect("pear OR green", [2, 3])
            try expect("red* pear OR green OR reddish", [3, 9])
            try expect("nothing red", [])
            try expect("frequent rare500", [500])
            try expect("f* rare500 OR rare600", [500, 600])
            try expect("\"frequent ra*\"", [100, 200, 300, 400, 500, 600])
            try expect("3 7", [10])
            // Words that were cut are the same here.
            try expect(String(repeating: "x", count: 500), [7, 8])
            try expect(String(repeating: "x", count: 450) + "*", [7, 8])
            try expect("x*", [7, 8])
            let both = try WordSearch.keys(plan("text SEARCH 'red' AND text SEARCH 'apple'", schema), reader)
            #expect(both?.keys == [1, 6])
        }
    }

    @Test func otherConditionsAreNotForTheIndex() throws {
        try withReader { reader, schema in
            for text in ["other SEARCH 'red'", "text CONTAINS 'red'", "NOT (text SEARCH 'red')", "text SEARCH 'red' OR other == 'x'"] {
                let found = try WordSearch.keys(plan(text, schema), reader)
                #expect(found?.keys == nil, "\(text)")
            }
        }
    }

    /// A text that goes takes its entries with it.
    @Test func nothingIsLeftOfDeletedRows() throws {
        let schema = try Schema(entities: [
            Entity("Note", attributes: [Attribute("text", .string)], indexes: [Index(["text"], kind: .fullText)])
        ])
        let store = InMemoryStore()
        _ = try store.open(OpenRequest(schema: schema))
        func write(_ changes: EntityChanges) throws {
            let writer = try store.beginWrite(WriteOptions())
            defer { writer.end() }
            try writer.apply(ChangeSet(entities: [changes]))
            _ = try writer.commit(CommitRecord())
        }
        func rows(_ text: String) -> RowSource {
            RowSource(count: 1) { _, batch in batch.appendRow(key: 1, version: 1, entity: 0, slots: 1)[0] = batch.cell(for: .string(text)) }
        }
        func entries() throws -> Int {
            let reader = try #require(try store.beginRead() as? KeyValueReader)
            defer { reader.end() }
            return try reader.engine.count(try #require(reader.core.layout.wordIndexes[0].first).map)
        }
        try write(EntityChanges(entity: 0, inserts: rows("a b a c")))
        #expect(try entries() == 3)
        var mask = SlotMask()
        mask.insert(0)
        try write(EntityChanges(entity: 0, updates: [RowUpdate(mask: mask, checksVersion: false, rows: rows("a d"))]))
        #expect(try entries() == 2)
        try write(EntityChanges(entity: 0, deletes: [RowDeletion(key: 1)]))
        #expect(try entries() == 0)
    }
}
