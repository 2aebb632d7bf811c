import Foundation
import PolystoreStorage
import TestStores
import Testing

/// Stores of notes with a history, for tests that give it to other stores.
struct NoteHistory {
    let schema: Schema
    let note: EntityIndex

    init() throws {
        schema = try Schema(entities: [
            Entity(
                "Note",
                attributes: [
                    Attribute("text", .string, history: .preserved), Attribute("price", .decimal, isOptional: true, history: .preserved),
                    Attribute("rank", .int64, isOptional: true),
                ], relationships: [Relationship("tags", to: "Note", .toManyOrdered)]),
            Entity("Poem", parent: "Note"),
        ])
        note = try #require(schema.index(of: "Note"))
    }

    func rows(_ keys: [Int64], _ entity: EntityIndex? = nil) -> RowSource {
        let entity = entity ?? note, count = schema[entity].slots.count
        return RowSource(count: keys.count) { range, batch in
            for key in keys[range] {
                let cells = batch.appendRow(key: key, version: 1, entity: entity, slots: count)
                cells.initialize(repeating: .null, count: count)
                cells[0] = batch.cell(for: .string("n\(key) é\u{1f600}"))
                cells[1] = batch.cell(for: .decimal(Decimal(string: "0.1")!))
                cells[2] = .int(key)
            }
        }
    }

    func commit(_ store: OpenStore, _ record: CommitRecord, _ changes: ChangeSet) throws {
        let writer = try store.beginWrite()
        defer { writer.end() }
        try writer.apply(changes)
        _ = try writer.commit(record)
    }

    /// A store whose transactions insert, update, link and delete objects. The oldest ones are purged.
    func source(_ storage: any StorageInterface) throws -> OpenStore {
        let store = try OpenStore(opening: storage, OpenRequest(schema: schema))
        let writer = try store.beginWrite(WriteOptions(bulk: .whole)), batch = RowBatch(), poem = try #require(schema.index(of: "Poem"))
        try rows(Array(1...3000)).forEachBatch(batch) { batch throws(StorageError) in try writer.load(note, batch) }
        _ = try writer.commit(CommitRecord())
        for key: Int64 in 4001...4002 {
            try commit(
                store, CommitRecord(author: "purged", time: 1), ChangeSet(entities: [EntityChanges(entity: note, inserts: rows([key]))]))
        }
        let newest = try #require(try settled(store).last?.token)
        let purger = try store.beginWrite()
        try purger.purgeHistory(through: newest)
        _ = try purger.commit(CommitRecord())
        var mask = SlotMask()
        mask.insert(2)
        let update = RowUpdate(mask: mask, checksVersion: false, rows: rows([2, 3, 9]))
        let records: [(CommitRecord, ChangeSet)] = [
            (
                CommitRecord(author: "ann", time: -62_135_596_800_000_000),
                ChangeSet(entities: [EntityChanges(entity: poem, inserts: rows([5000, 5001, 5007], poem))])
            ),
            (CommitRecord(author: "\"b\\\n\u{1}é", time: 5), ChangeSet(entities: [EntityChanges(entity: note, updates: [update])])),
            (
                CommitRecord(author: "", time: 5),
                ChangeSet(
                    entities: [EntityChanges(entity: note, deletes: [RowDeletion(key: 7), RowDeletion(key: 8)])],
                    links: [LinkChanges(link: 0, added: [LinkPair(owner: 1, rank: 1, member: 2), LinkPair(owner: 5, rank: 1, member: 1)])])
            ),
        ]
        for (record, changes) in records { try commit(store, record, changes) }
        for key in 6001...6300 {
            try commit(
                store, CommitRecord(author: "many \(key)", time: Int64(key)),
                ChangeSet(entities: [EntityChanges(entity: note, inserts: rows([Int64(key)]))]))
        }
        return store
    }

    /// The whole history, once no entry is withheld any more.
    func settled(_ store: OpenStore, since token: HistoryToken? = nil) throws -> [HistoryEntry] {
        let reader = try settledSession(of: store)
        defer { reader.end() }
        return try reader.history(since: token, limit: 10_000)
    }

    /// A session that sees the whole history. A server withholds entries while older transactions of other tests are open.
    func settledSession(of store: OpenStore) throws -> ReadSession {
        for _ in 0..<6_000 {
            let reader = try store.beginRead()
            if try !reader.hasUnsettledHistory() { return reader }
            reader.end()
            usleep(10_000)
        }
        throw StorageError(.busy, "the history is not settled")
    }

    struct Transaction: Hashable {
        let time: Int64
        let author: String
        let changes: [HistoryChange]

        init(_ entry: HistoryEntry) { (time, author, changes) = (entry.time, entry.author, Array(entry.changes)) }
    }
}
