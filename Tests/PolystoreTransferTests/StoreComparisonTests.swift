import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Differences between stores, and violations within one.
@Suite struct StoreComparisonTests {
    private let schema: Schema
    private let note: EntityIndex
    private let poem: EntityIndex

    init() throws {
        schema = try Schema(entities: [
            Entity(
                "Note", attributes: [Attribute("text", .string), Attribute("rank", .int64, isOptional: true)],
                relationships: [
                    Relationship("twin", to: "Note", inverse: "twin"), Relationship("tags", to: "Note", .toMany),
                    Relationship("parts", to: "Part", .toManyOrdered, inverse: "whole"),
                ], indexes: [Index(["rank"])]),
            Entity("Poem", parent: "Note"),
            Entity("Part", relationships: [Relationship("whole", to: "Note", inverse: "parts")]),
        ])
        note = try #require(schema.index(of: "Note"))
        poem = try #require(schema.index(of: "Poem"))
    }

    private struct Row {
        var entity: EntityIndex
        var key: Int64
        var text: Value = .string("a")
        var rank: Value = .null
        var twin: Value = .null
    }

    private func store(
        _ rows: [Row], tags: [LinkPair] = [], parts: [(key: Int64, whole: Int64)] = [], order: [LinkPair] = []
    ) throws -> OpenStore {
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema)),
            writer = try store.beginWrite(WriteOptions(bulk: .whole))
        defer { writer.end() }
        let batch = RowBatch(), part = try #require(schema.index(of: "Part"))
        for row in rows {
            let slots = schema[row.entity].slots, cells = batch.appendRow(key: row.key, version: 1, entity: row.entity, slots: slots.count)
            cells.initialize(repeating: .null, count: slots.count)
            for (name, value) in [("text", row.text), ("rank", row.rank), ("twin", row.twin)] {
                cells[try #require(schema[row.entity].slot(name))] = batch.cell(for: value)
            }
        }
        if batch.count > 0 { try writer.load(note, batch) }
        batch.clear()
        for row in parts { batch.appendRow(key: row.key, version: 1, entity: part, slots: 1).initialize(to: .int(row.whole)) }
        if batch.count > 0 { try writer.load(part, batch) }
        for (name, pairs) in [("Note.tags", tags), ("Note.parts", order)] where !pairs.isEmpty {
            try writer.load(link: try #require(schema.links.firstIndex { $0.name == name }), pairs)
        }
        _ = try writer.commit(CommitRecord())
        return store
    }

    private func differences(_ a: OpenStore, _ b: OpenStore) throws -> [RowDifference] {
        var found: [RowDifference] = []
        try TransferEngine().differences(between: a, and: b) { found.append($0) }
        return found
    }

    private func findings(_ store: OpenStore) throws -> [String] {
        var found: [String] = []
        try TransferEngine().check(store) { found.append($0.description) }
        return found
    }

    @Test func eachDifferenceIsNamedOnce() throws {
        let first = try store(
            [
                Row(entity: note, key: 1), Row(entity: note, key: 2), Row(entity: note, key: 4, rank: .int(1)), Row(entity: poem, key: 5),
                Row(entity: note, key: 9),
            ],
            tags: [LinkPair(owner: 4, rank: 0, member: 1), LinkPair(owner: 4, rank: 0, member: 2), LinkPair(owner: 9, rank: 0, member: 1)])
        let second = try store(
            [
                Row(entity: note, key: 2), Row(entity: note, key: 3), Row(entity: note, key: 4, text: .string("b")),
                Row(entity: note, key: 5), Row(entity: note, key: 9),
            ],
            tags: [LinkPair(owner: 4, rank: 0, member: 2), LinkPair(owner: 9, rank: 0, member: 1)])
        let found = try differences(first, second)
        #expect(found.map(\.key) == [1, 3, 4, 5, 4])
        #expect(found.map(\.entity) == ["Note", "Note", "Note", "Poem", "Note"])
        #expect(found[0].kind == .onlyInFirst)
        #expect(found[1].kind == .onlyInSecond)
        guard case .properties(let properties) = found[2].kind else { return #expect(Bool(false), "\(found[2])") }
        #expect(properties.map(\.name) == ["text", "rank"])
        #expect(properties.map(\.first) == [.string("a"), .int(1)])
        #expect(properties.map(\.second) == [.string("b"), .null])
        #expect(found[3].kind == .entities(first: "Poem", second: "Note"))
        #expect(found[4].kind == .members(relationship: "tags", first: [1, 2], second: [2]))
        #expect(try differences(first, first).isEmpty)
    }

    @Test func theOrderOfMembersCountsOnlyWhereTheRelationshipIsOrdered() throws {
        let rows = [Row(entity: note, key: 1), Row(entity: note, key: 2), Row(entity: note, key: 3)]
        func tagged(_ ranks: (Int64, Int64)) throws -> OpenStore {
            try store(
                rows, tags: [LinkPair(owner: 1, rank: 0, member: 2), LinkPair(owner: 1, rank: 0, member: 3)], parts: [(1, 1), (2, 1)],
                order: [LinkPair(owner: 1, rank: ranks.0, member: 1), LinkPair(owner: 1, rank: ranks.1, member: 2)])
        }
        #expect(try differences(tagged((1, 2)), tagged((5, 9))).isEmpty)
        let turned = try differences(tagged((1, 2)), tagged((2, 1)))
        #expect(turned.map(\.kind) == [.members(relationship: "parts", first: [1, 2], second: [2, 1])])
    }

    @Test func manyObjectsAreComparedInOrder() throws {
        let rows = (1...10_000).map { Row(entity: note, key: Int64($0)) }
        var others = rows.filter { $0.key % 1000 != 0 }
        others[4].rank = .int(7)
        #expect(try differences(store(rows), store(others)).map(\.key) == [5] + stride(from: 1000, through: 10_000, by: 1000))
    }

    @Test func otherModelsAreNotCompared() throws {
        let other = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: Schema(entities: [Entity("Note")])))
        let error = #expect(throws: StorageError.self) { try differences(store([]), other) }
        #expect(error?.code == .schemaMismatch)
    }

    @Test func aWholeStoreHasNoFindings() throws {
        let whole = try store(
            [
                Row(entity: note, key: 1, twin: .int(2)), Row(entity: poem, key: 2, rank: .int(4), twin: .int(1)),
                Row(entity: note, key: 8, twin: .int(8)),
            ],
            tags: [LinkPair(owner: 1, rank: 0, member: 2)], parts: [(1, 1), (2, 8)],
            order: [LinkPair(owner: 1, rank: 1, member: 1), LinkPair(owner: 8, rank: 1, member: 2)])
        #expect(try findings(whole).isEmpty)
    }

    @Test func eachViolationIsNamed() throws {
        let broken = try store(
            [
                Row(entity: note, key: 1, text: .null, twin: .int(2)), Row(entity: note, key: 2, twin: .int(3)),
                Row(entity: poem, key: 3, twin: .int(77)),
            ],
            tags: [LinkPair(owner: 1, rank: 0, member: 99), LinkPair(owner: 98, rank: 0, member: 1)], parts: [(1, 1), (2, 55)])
        #expect(
            try findings(broken) == [
                "Note.text of object 1: the attribute is required but nil",
                "Poem.twin of object 3: refers to object 77 of Note, which does not exist",
                "Note.twin of object 1: object 2 does not refer back to this object",
                "Note.twin of object 2: object 3 does not refer back to this object",
                "Part.whole of object 2: refers to object 55 of Note, which does not exist",
                "Note.tags of object 1: has object 99 of Note as a member, which does not exist",
                "Note.tags of object 98: has object 1 as a member although the owner does not exist",
                "Note.parts of object 1: has no position for object 1, which refers to it",
            ])
    }

    /// The other end of a one-to-one relationship shows what a required end should be. Without it nothing does.
    @Test func aRequiredEndThatIsNilIsMendedByTheOtherOne() throws {
        let schema = try Schema(entities: [
            Entity("Lock", relationships: [Relationship("key", to: "Key", isOptional: false, inverse: "lock")]),
            Entity("Key", relationships: [Relationship("lock", to: "Lock", isOptional: false, inverse: "key")]),
        ])
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        let writer = try store.beginWrite(WriteOptions(bulk: .whole)), batch = RowBatch()
        defer { writer.end() }
        let lock = try #require(schema.index(of: "Lock")), key = try #require(schema.index(of: "Key"))
        for number in [1, 2] as [Int64] { batch.appendRow(key: number, version: 1, entity: lock, slots: 1).initialize(to: .null) }
        try writer.load(lock, batch)
        batch.clear()
        batch.appendRow(key: 5, version: 1, entity: key, slots: 1).initialize(to: .int(1))
        try writer.load(key, batch)
        _ = try writer.commit(CommitRecord())
        #expect(
            try findings(store) == [
                "Key.lock of object 5: object 1 does not refer back to this object",
                "Lock.key of object 2: the relationship is required but nil",
            ])
        let options = RepairOptions(deletesBroken: true)
        _ = try TransferEngine().repair(store, TransferEngine().planRepair(of: store, options) { _ in })
        #expect(try findings(store) == [])
        let reader = try store.beginRead()
        defer { reader.end() }
        let rows = RowBatch(capacity: 4)
        try reader.rows(lock, keys: [1, 2], into: rows)
        #expect(rows.count == 1 && rows.row(0)[0].int == 5)
    }

    /// An object that is kept only for one that is removed is removed too, and nothing refers to it then.
    @Test func whatIsKeptForARemovedObjectIsRemovedWithWhatNeedsIt() throws {
        let schema = try Schema(entities: [
            Entity("Lock", relationships: [Relationship("key", to: "Key", isOptional: false, inverse: "lock")]),
            Entity(
                "Key", attributes: [Attribute("ring", .string)],
                relationships: [Relationship("lock", to: "Lock", isOptional: false, inverse: "key")]),
            Entity("Label", relationships: [Relationship("lock", to: "Lock", isOptional: false)]),
        ])
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        let writer = try store.beginWrite(WriteOptions(bulk: .whole)), batch = RowBatch()
        defer { writer.end() }
        for (name, key, cells) in [("Lock", 1, [Cell.null]), ("Key", 5, [.null, .int(1)]), ("Label", 9, [.int(1)])]
            as [(String, Int64, [Cell])]
        {
            let entity = try #require(schema.index(of: name))
            batch.clear()
            let row = batch.appendRow(key: key, version: 1, entity: entity, slots: cells.count)
            for (slot, cell) in cells.enumerated() { (row + slot).initialize(to: cell) }
            try writer.load(entity, batch)
        }
        _ = try writer.commit(CommitRecord())
        _ = try TransferEngine().repair(store, TransferEngine().planRepair(of: store, RepairOptions(deletesBroken: true)) { _ in })
        #expect(try findings(store) == [])
        let reader = try store.beginRead()
        defer { reader.end() }
        for root in schema.roots { #expect(try reader.cursor(for: FetchPlan(schema, root)).next(into: RowBatch()) == false) }
    }

    /// Without what is removed an object can have too few members, which is in the plan.
    @Test func membersThatARepairRemovesDoNotCount() throws {
        let schema = try Schema(entities: [
            Entity("Box", relationships: [Relationship("things", to: "Thing", .toMany, inverse: "box", minCount: 1)]),
            Entity("Thing", attributes: [Attribute("name", .string)], relationships: [Relationship("box", to: "Box", inverse: "things")]),
        ])
        let store = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: schema))
        let writer = try store.beginWrite(WriteOptions(bulk: .whole)), batch = RowBatch()
        defer { writer.end() }
        for key in [1, 2] as [Int64] { _ = batch.appendRow(key: key, version: 1, entity: 0, slots: 0) }
        try writer.load(0, batch)
        batch.clear()
        for (key, name) in [(1, Value.string("a")), (2, .null)] as [(Int64, Value)] {
            let cells = batch.appendRow(key: key, version: 1, entity: 1, slots: 2)
            cells.initialize(to: batch.cell(for: name))
            (cells + 1).initialize(to: .int(key))
        }
        try writer.load(1, batch)
        _ = try writer.commit(CommitRecord())
        var planned: [String] = []
        _ = try TransferEngine().planRepair(of: store, RepairOptions(deletesBroken: true)) { planned.append($0.description) }
        #expect(
            planned == [
                "Thing.name of object 2: the attribute is required but nil", "Box.things of object 2: must have at least 1 objects",
            ])
    }

    @Test(arguments: TestStore.all) func relationshipsAndTextsThatBreakRulesAreNamed(_ kind: TestStore) throws {
        let schema = try Schema(entities: [
            Entity(
                "Box", attributes: [Attribute("label", .string, isOptional: true)],
                relationships: [
                    Relationship("things", to: "Thing", .toMany, inverse: "box", minCount: 1, maxCount: 2),
                    Relationship("marks", to: "Mark", .toMany, isOptional: false),
                ]),
            Entity("Thing", relationships: [Relationship("box", to: "Box", isOptional: false, inverse: "things")]), Entity("Mark"),
        ])
        let store = try OpenStore(opening: kind.make(), OpenRequest(schema: schema))
        defer { try? store.erase() }
        let writer = try store.beginWrite(WriteOptions(bulk: .whole)), batch = RowBatch()
        defer { writer.end() }
        func load(_ entity: String, _ rows: [(key: Int64, value: Value)]) throws {
            let entity = try #require(schema.index(of: entity)), count = schema[entity].slots.count
            batch.clear()
            for row in rows {
                let cells = batch.appendRow(key: row.key, version: 1, entity: entity, slots: count)
                if count > 0 { cells.initialize(repeating: batch.cell(for: row.value), count: count) }
            }
            try writer.load(entity, batch)
        }
        // PostgreSQL stores no such text.
        let label: Value = kind == .postgresql ? .null : .string("a\u{0}b")
        try load("Box", [(1, .null), (2, .null), (3, .null), (4, label)])
        try load("Thing", [(1, .int(1)), (2, .int(3)), (3, .int(3)), (4, .int(3)), (5, .int(4)), (6, .null)])
        try load("Mark", [(1, .null)])
        try writer.load(link: 0, [LinkPair(owner: 1, rank: 0, member: 1), LinkPair(owner: 3, rank: 0, member: 1)])
        _ = try writer.commit(CommitRecord())
        let labels = kind == .postgresql ? [] : ["Box.label of object 4: the text contains U+0000, which no text may"]
        #expect(
            try findings(store) == labels + [
                "Thing.box of object 6: the relationship is required but nil", "Box.things of object 2: must have 1 to 2 objects",
                "Box.things of object 3: must have 1 to 2 objects", "Box.marks of object 2: must have at least 1 objects",
                "Box.marks of object 4: must have at least 1 objects",
            ])
    }
}
