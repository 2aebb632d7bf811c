import Foundation
import Polystore
import TestStores
import Testing

/// Ordered relationships whose members have equal ranks in the store.
@Suite struct EqualRankTests {
    private static func numbers(_ source: some FetchSource) throws -> [Int64] {
        let box = try #require(try source.fetchOne(From<DynamicObject>(entity: "Box")))
        return try box.objects("tags").compactMap {
            if case .int(let number)? = try ($0 as? DynamicObject)?.value("number") { number } else { nil }
        }
    }

    private static func assign(_ numbers: [Int], in transaction: BaseTransaction) throws {
        let items = try transaction.fetchAll(From<DynamicObject>(entity: "Item").orderBy(.ascending("number")))
        try transaction.fetchOne(From<DynamicObject>(entity: "Box"))?.setObjects(numbers.map { items[$0] }, for: "tags")
    }

    @Test(arguments: TestStore.all.filter { $0 != .memory }) func anInsertionMovesNoOtherMember(_ kind: TestStore) throws {
        let schema = try Schema(entities: [
            Entity("Box", attributes: [], relationships: [Relationship("tags", to: "Item", .toManyOrdered, inverse: "boxes")]),
            Entity(
                "Item", attributes: [Attribute("number", .int64)],
                relationships: [Relationship("boxes", to: "Box", .toMany, inverse: "tags")]),
        ])
        let name = "polystore_\(UUID().uuidString.lowercased())"
        let open = try OpenStore(opening: kind.make(named: name), OpenRequest(schema: schema))
        let writer = try open.beginWrite(), box = RowBatch(capacity: 1), items = RowBatch(capacity: 4)
        let entities = (box: try #require(schema.index(of: "Box")), item: try #require(schema.index(of: "Item")))
        _ = box.appendRow(key: 1, version: 1, entity: entities.box, slots: 0)
        for number in 0..<4 {
            items.appendRow(key: Int64(number + 1), version: 1, entity: entities.item, slots: 1)[0] = items.cell(for: .int(Int64(number)))
        }
        try writer.load(entities.box, box)
        try writer.load(entities.item, items)
        try writer.load(link: 0, (1...3).map { LinkPair(owner: 1, rank: 7, member: $0) })
        _ = try writer.commit(CommitRecord())
        writer.end()
        try open.close()
        let stack = try DataStack(schema: schema), storage = kind.make(named: name)
        try stack.addStorageAndWait(storage)
        defer { try? storage.erase() }
        let work = stack.beginUnsafe()
        #expect(try Self.numbers(work) == [0, 1, 2])
        try Self.assign([0, 3, 1, 2], in: work)
        // The other transaction alone changes the order of 1 and 2.
        try stack.perform(synchronous: { try Self.assign([0, 2, 1], in: $0) })
        try work.commit()
        let stored = try stack.read(synchronous: { try Self.numbers($0) })
        #expect(stored.filter { $0 != 3 } == [0, 2, 1] && stored.count == 4 && stored.first == 0)
    }
}
