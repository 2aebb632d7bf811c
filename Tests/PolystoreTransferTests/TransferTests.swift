import Foundation
import PolystoreInMemory
import PolystoreSQLite
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

@Suite struct TransferTests {
    private let schema: Schema

    init() throws {
        schema = try Schema(entities: [
            Entity(
                "Note", attributes: [Attribute("text", .string), Attribute("rank", .int64, isOptional: true)],
                relationships: [Relationship("next", to: "Note"), Relationship("items", to: "Note", .toManyOrdered)])
        ])
    }

    private func store() throws -> OpenStore { try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema)) }

    private func store(_ csv: String) throws -> OpenStore {
        let store = try store()
        _ = try FileLoader.load(LoadMapping(files: [LoadMapping.file("notes.csv", entity: "Note")]), into: store) { _ in
            FileBlocks(Data(csv.utf8))
        }
        return store
    }

    private func digest(_ store: OpenStore, _ name: String = "Note") throws -> Digest? {
        let reader = try store.beginRead()
        defer { reader.end() }
        return try Contents(reader).digests().first { $0.name == name }?.digest
    }

    private func write(_ store: OpenStore, _ changes: ChangeSet) throws {
        let writer = try store.beginWrite(WriteOptions())
        defer { writer.end() }
        try writer.apply(changes)
        _ = try writer.commit(CommitRecord())
    }

    private func update(_ slot: Int, _ value: Value) -> ChangeSet {
        var mask = SlotMask()
        mask.insert(slot)
        let rows = RowSource(count: 1) { _, batch in
            let cell = batch.cell(for: value)
            let cells = batch.appendRow(key: 1, version: 1, entity: 0, slots: 3)
            cells.update(repeating: .null, count: 3)
            cells[slot] = cell
        }
        return ChangeSet(entities: [EntityChanges(entity: 0, updates: [RowUpdate(mask: mask, checksVersion: false, rows: rows)])])
    }

    @Test func theDigestDependsOnEveryKindOfChange() throws {
        let csv = "text,rank\na,1\nb,\n"
        let plain = try digest(store(csv))
        #expect(try digest(store(csv)) == plain)
        for (slot, value) in [(0, Value.string("x")), (1, .int(2)), (1, .null), (2, .int(2))] {
            let changed = try store(csv)
            try write(changed, update(slot, value))
            #expect(try digest(changed) != plain, "slot \(slot)")
        }
        // The version is not part of it: writing the same value raises only that.
        let same = try store(csv)
        try write(same, update(0, .string("a")))
        #expect(try digest(same) == plain)
    }

    @Test func theDigestOfAnOrderedLinkSeesPositionsNotRanks() throws {
        func links(_ pairs: [LinkPair]) throws -> Digest? {
            let store = try store("text\na\nb\nc\n")
            try write(store, ChangeSet(links: [LinkChanges(link: 0, added: pairs)]))
            return try digest(store, "Note.items")
        }
        let plain = try links([LinkPair(owner: 1, rank: 10, member: 2), LinkPair(owner: 1, rank: 20, member: 3)])
        #expect(try links([LinkPair(owner: 1, rank: 5, member: 2), LinkPair(owner: 1, rank: 6, member: 3)]) == plain)
        #expect(try links([LinkPair(owner: 1, rank: 20, member: 2), LinkPair(owner: 1, rank: 10, member: 3)]) != plain)
        #expect(try links([LinkPair(owner: 1, rank: 10, member: 2)]) != plain)
    }

    @Test func aTransferIsEqualAndATargetThatHoldsRowsIsRefused() throws {
        let source = try store("text\na\nb\n"),
            path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).db").path
        let target = try OpenStore(opening: SQLiteStore(path: path), OpenRequest(schema: schema))
        defer { try? target.erase() }
        _ = try TransferEngine().transfer(from: source, to: target)
        #expect(try TransferEngine().verify(source, target).allSatisfy(\.isSame))
        let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target) }
        #expect(error?.code == .alreadyExists)
    }

    @Test func aBadRowNamesLineAndColumnAndLeavesNothing() throws {
        let store = try store()
        let error = #expect(throws: StorageError.self) {
            try FileLoader.load(LoadMapping(files: [LoadMapping.file("notes.csv", entity: "Note")]), into: store) { _ in
                FileBlocks(Data("text,rank\na,1\nb,two\n".utf8))
            }
        }
        #expect(error?.message == "notes.csv, line 3, column \"rank\": \"two\" is no value of type int64; expected digits within its range")
        #expect(try digest(store)?.count == 0)
    }

    @Test func aStoreWithPeersIsNotLoadedPastThem() throws {
        let store = try store()
        let writer = try store.beginWrite(WriteOptions())
        try Peers.add(UUID(), writer)
        _ = try writer.commit(CommitRecord())
        let error = #expect(throws: StorageError.self) {
            try FileLoader.load(LoadMapping(files: [LoadMapping.file("notes.csv", entity: "Note")]), into: store) { _ in
                FileBlocks(Data("text\na\n".utf8))
            }
        }
        #expect(error?.code == .peerUnavailable)
        #expect(try digest(store)?.count == 0)
    }

    @Test func aStoreWithPeersIsRefusedAsATarget() throws {
        let source = try store("text\na\n"), target = try store()
        let writer = try target.beginWrite(WriteOptions())
        try Peers.add(UUID(), writer)
        _ = try writer.commit(CommitRecord())
        let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target) }
        #expect(error?.code == .peerUnavailable)
        #expect(try digest(target)?.count == 0)
    }

    /// Another store may keep changes for the source, which only a stack that contains both can find out.
    @Test func aStoreWithPeersIsCopiedOnlyIfTheLossIsAccepted() throws {
        let source = try store("text\na\n"), target = try store()
        let writer = try source.beginWrite(WriteOptions())
        try Peers.add(UUID(), writer)
        _ = try writer.commit(CommitRecord())
        var options = TransferOptions()
        let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, options) }
        #expect(error?.code == .dataLossRefused && error?.message.contains("\"joint commits\"") == true)
        #expect(try digest(target)?.count == 0)
        func plan() throws -> TransferPlan {
            let reader = try source.beginRead()
            defer { reader.end() }
            return try TransferPlan(reader, to: nil, options, nil) { _ in }
        }
        #expect(try plan().refusals == [error?.message])
        options.acceptedLosses = ["joint commits"]
        #expect(try plan().refusals.isEmpty)
        _ = try TransferEngine().transfer(from: source, to: target, options)
        #expect(try digest(target)?.count == 1)
    }

    @Test func aLoadReportsItsProgress() throws {
        let store = try store()
        var told: [Int] = []
        let lines = (0..<2500).map { "{\"text\": \"n\($0)\"}" }.joined(separator: "\n")
        _ = try FileLoader.load(
            LoadMapping(files: [LoadMapping.file("notes.ndjson", entity: "Note")]), into: store,
            progress: { name, count in told.append(name == "Note" ? count : -1) }, read: { _ in FileBlocks(Data(lines.utf8)) })
        #expect(told == [1024, 2048])
    }

    @Test(arguments: TestStore.all) func aKeyOfAnObjectThatWasDeletedIsNotGivenAgain(_ kind: TestStore) throws {
        for other in TestStore.all {
            let name = UUID().uuidString.prefix(8).lowercased()
            let source = try OpenStore(opening: kind.make(named: "keys_a\(name)"), OpenRequest(schema: schema))
            defer { try? source.erase() }
            let target = try OpenStore(opening: other.make(named: "keys_b\(name)"), OpenRequest(schema: schema))
            defer { try? target.erase() }
            let writer = try source.beginWrite()
            let keys = try writer.reserveKeys(0, count: 5), last = keys.upperBound - 1
            let batch = RowBatch(capacity: 1)
            let cells = batch.appendRow(key: last, version: 1, entity: 0, slots: 3)
            for slot in 0..<3 { (cells + slot).initialize(to: slot == 0 ? batch.cell(for: .string("a")) : .null) }
            try writer.load(0, batch)
            _ = try writer.commit(CommitRecord())
            try write(source, ChangeSet(entities: [EntityChanges(entity: 0, deletes: [RowDeletion(key: last)])]))
            _ = try TransferEngine().transfer(from: source, to: target)
            let check = try target.beginWrite()
            defer { check.end() }
            #expect(try check.reserveKeys(0, count: 1).lowerBound > last, "\(kind) to \(other)")
        }
    }
}
