import Foundation
import PolystoreInMemory
import PolystoreSQLite
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Merges in which the source and the target relate the same objects differently.
@Suite struct TransferMergeTests {
    private typealias Row = (entity: String, key: Int64, values: [Value])

    private func store(_ schema: Schema, _ rows: [Row], pairs: [(link: String, owner: Int64, member: Int64)] = []) throws -> OpenStore {
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema)), writer = try store.beginWrite()
        defer { writer.end() }
        for row in rows {
            let entity = try #require(schema.index(of: row.entity)), batch = RowBatch(capacity: 1)
            let cells = batch.appendRow(key: row.key, version: 1, entity: entity, slots: row.values.count)
            for (slot, value) in row.values.enumerated() { (cells + slot).initialize(to: batch.cell(for: value)) }
            try writer.load(schema[entity].root, batch)
        }
        for (position, pair) in pairs.enumerated() {
            let link = try #require(schema.links.firstIndex { $0.name == pair.link })
            let rank = schema.links[link].isOrdered ? Int64(position + 1) << 20 : 0
            try writer.load(link: link, [LinkPair(owner: pair.owner, rank: rank, member: pair.member)])
        }
        _ = try writer.commit(CommitRecord())
        return store
    }

    private func merge(_ source: OpenStore, _ target: OpenStore, _ change: (inout TransferOptions) throws -> Void = { _ in }) throws {
        var options = TransferOptions()
        options.existing = .merge
        try change(&options)
        _ = try TransferEngine().transfer(from: source, to: target, options)
        #expect(try findings(target).isEmpty)
    }

    private func findings(_ store: OpenStore) throws -> [String] {
        var findings: [String] = []
        try TransferEngine().check(store) { findings.append($0.description) }
        return findings
    }

    private func pairs(_ store: OpenStore, _ link: Int = 0) throws -> [String] {
        let reader = try store.beginRead()
        defer { reader.end() }
        var found: [String] = []
        try reader.links(link, side: .owner, keys: nil) { pairs in found += pairs.map { "\($0.owner)-\($0.member)" } }
        return found
    }

    private func texts(_ store: OpenStore, _ slot: Int = 0) throws -> [Int64: Value] {
        let reader = try store.beginRead()
        defer { reader.end() }
        let schema = store.schema, cursor = try reader.cursor(for: FetchPlan(schema, 0)), batch = RowBatch()
        var found: [Int64: Value] = [:]
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                let row = batch.row(index)
                found[row.key] = Value(row[slot], as: schema[row.entity].slots[slot].type)
            }
        }
        return found
    }

    // MARK: Ordered members that refer to their owner

    private func lists() throws -> Schema {
        try Schema(entities: [
            Entity("Item", attributes: [Attribute("name", .string)], relationships: [Relationship("list", to: "List", inverse: "items")]),
            Entity("List", relationships: [Relationship("items", to: "Item", .toManyOrdered, inverse: "list")]),
        ])
    }

    @Test func anItemThatMovesLeavesTheListThatOnlyTheTargetHas() throws {
        let schema = try lists()
        let source = try store(
            schema, [("List", 2, []), ("Item", 1, [.string("a"), .int(2)]), ("Item", 2, [.string("b"), .int(2)])],
            pairs: [("List.items", 2, 2), ("List.items", 2, 1)])
        let target = try store(
            schema,
            [
                ("List", 1, []), ("List", 2, []), ("Item", 1, [.string("a"), .int(1)]), ("Item", 2, [.string("b"), .int(1)]),
                ("Item", 3, [.string("c"), .int(1)]), ("Item", 4, [.string("d"), .int(2)]),
            ],
            pairs: [("List.items", 1, 1), ("List.items", 1, 3), ("List.items", 1, 2), ("List.items", 2, 4)])
        try merge(source, target)
        #expect(try pairs(target) == ["1-3", "2-2", "2-1", "2-4"])
    }

    @Test func aPositionWithoutAReferenceIsFound() throws {
        let schema = try lists()
        let wrong = try store(
            schema, [("List", 1, []), ("List", 2, []), ("Item", 1, [.string("a"), .int(2)]), ("Item", 2, [.string("b"), .null])],
            pairs: [("List.items", 1, 1), ("List.items", 1, 2), ("List.items", 2, 1)])
        #expect(
            try findings(wrong) == [
                "List.items of object 1: has a position for object 1, which does not refer to it",
                "List.items of object 1: has a position for object 2, which does not refer to it",
            ])
    }

    @Test(arguments: [TransferOptions.ExistingObjects.append, .merge]) func itemsAreAddedToAListThatIsNotCopied(
        _ existing: TransferOptions.ExistingObjects
    ) throws {
        let schema = try lists()
        let source = try store(
            schema, [("List", 1, []), ("Item", 2, [.string("b"), .int(1)]), ("Item", 3, [.string("c"), .int(1)])],
            pairs: [("List.items", 1, 3), ("List.items", 1, 2)])
        let target = try store(schema, [("List", 1, []), ("Item", 1, [.string("a"), .int(1)])], pairs: [("List.items", 1, 1)])
        try merge(source, target) {
            $0.existing = existing
            $0.selection.only = ["Item"]
        }
        #expect(try pairs(target) == ["1-1", "1-2", "1-3"])
    }

    @Test func aListThatIsCopiedAloneLeavesOutWhatRefersToAnotherOne() throws {
        let schema = try lists(), lists: [Row] = [("List", 1, []), ("List", 2, [])]
        let source = try store(
            schema, lists + [("Item", 1, [.string("a"), .int(1)]), ("Item", 2, [.string("b"), .int(1)])],
            pairs: [("List.items", 1, 2), ("List.items", 1, 1)])
        let target = try store(
            schema,
            lists + [("Item", 1, [.string("a"), .int(2)]), ("Item", 2, [.string("b"), .null]), ("Item", 3, [.string("c"), .int(1)])],
            pairs: [("List.items", 2, 1), ("List.items", 1, 3)])
        try merge(source, target) { $0.selection.only = ["List"] }
        #expect(try pairs(target) == ["1-3", "2-1"])
    }

    // MARK: Members of both sides

    @Test func theMembersOfACopiedObjectAreThoseOfTheSourceOnEitherSide() throws {
        let schema = try Schema(entities: [
            Entity("Note", relationships: [Relationship("tags", to: "Tag", .toManyOrdered, inverse: "notes")]),
            Entity("Tag", relationships: [Relationship("notes", to: "Note", .toMany, inverse: "tags")]),
        ])
        let objects: [Row] = [("Note", 1, []), ("Note", 2, []), ("Tag", 1, []), ("Tag", 2, [])]
        let source = try store(schema, objects, pairs: [("Note.tags", 1, 1), ("Note.tags", 2, 1), ("Note.tags", 2, 2)])
        let target = try store(
            schema, objects + [("Note", 3, [])],
            pairs: [("Note.tags", 1, 2), ("Note.tags", 2, 2), ("Note.tags", 3, 1), ("Note.tags", 3, 2)])
        try merge(source, target) { $0.selection.only = ["Tag"] }
        // Note 3 is not in the source, which therefore says nothing about it.
        #expect(try pairs(target) == ["1-1", "2-2", "2-1", "3-1", "3-2"])
        try merge(source, target) { $0.selection.only = ["Note"] }
        #expect(try pairs(target) == ["1-1", "2-1", "2-2", "3-1", "3-2"])
    }

    // MARK: Entities of one hierarchy

    @Test func anObjectOfAnotherSubentityIsNoDestination() throws {
        let schema = try Schema(entities: [
            Entity("Base", isAbstract: true), Entity("One", parent: "Base"), Entity("Two", parent: "Base"),
            Entity("User", relationships: [Relationship("two", to: "Two")]),
        ])
        let source = try store(schema, [("Two", 1, []), ("User", 1, [.int(1)])]), target = try store(schema, [("One", 1, [])])
        let error = #expect(throws: StorageError.self) { try merge(source, target) { $0.selection.only = ["User"] } }
        #expect(error?.code == .dataLossRefused)
        // The check knows the difference too.
        let wrong = try store(schema, [("One", 1, []), ("User", 1, [.int(1)])])
        #expect(try findings(wrong) == ["User.two of object 1: refers to object 1 of Two, which does not exist"])
    }

    // MARK: Rules

    @Test func aTargetThatWouldNotBeWholeIsRefusedWithoutVerificationToo() throws {
        let schema = try Schema(entities: [
            Entity(
                "Person",
                relationships: [
                    Relationship("wife", to: "Person", inverse: "husband"), Relationship("husband", to: "Person", inverse: "wife"),
                ])
        ])
        let source = try store(schema, [("Person", 1, [.int(2), .null]), ("Person", 2, [.null, .int(1)])])
        let target = try store(schema, [("Person", 2, [.null, .int(3)]), ("Person", 3, [.int(2), .null])])
        for verifies in [true, false] {
            let error = #expect(throws: StorageError.self) { try merge(source, target) { $0.verifies = verifies } }
            #expect(error?.code == .validationFailed && error?.message.contains("would not be whole") == true)
        }
        #expect(try texts(target) == [2: .null, 3: .int(2)])
    }

    @Test(arguments: [TransferOptions.ExistingObjects.merge, .replace]) func uniqueValuesMoveBetweenObjectsThatAreFarApart(
        _ existing: TransferOptions.ExistingObjects
    ) throws {
        let schema = try Schema(entities: [
            Entity("Note", attributes: [Attribute("code", .string)], uniqueConstraints: [UniqueConstraint(["code"])])
        ])
        let count: Int64 = 20_000
        let target = try store(schema, (1...count).map { ("Note", $0, [.string("n\($0)")]) })
        // Every object gets the value of the next one, and the last one that of the first.
        let source = try store(schema, (1...count).map { ("Note", $0, [.string("n\($0 % count + 1)")]) })
        try merge(source, target) { $0.existing = existing }
        #expect(try TransferEngine().verify(source, target).allSatisfy(\.isSame))
        let entries = try target.beginRead()
        defer { entries.end() }
        #expect(try entries.history(since: nil, limit: 10).last?.changes.count == Int(count))
    }
}
