import PolystoreStorage
import PolystoreTransfer
import TestStores
import Testing

/// Repairs of violations that a bulk load, which checks nothing, has left in a store.
@Suite struct RepairTests {
    let schema: Schema

    init() throws {
        schema = try Schema(entities: [
            Entity(
                "Note",
                attributes: [
                    Attribute("text", .string), Attribute("body", .string, isOptional: true), Attribute("rank", .int64, isOptional: true),
                ],
                relationships: [
                    Relationship("twin", to: "Note", inverse: "twin"), Relationship("tags", to: "Note", .toMany),
                    Relationship("parts", to: "Part", .toManyOrdered, inverse: "whole"),
                ], indexes: [Index(["rank"]), Index(["body"], kind: .fullText)], uniqueConstraints: [UniqueConstraint(["text"])]),
            Entity("Poem", parent: "Note", attributes: [Attribute("metre", .string, isOptional: true)]),
            Entity("Part", relationships: [Relationship("whole", to: "Note", isOptional: false, inverse: "parts")]),
            Entity("Label", relationships: [Relationship("part", to: "Part", isOptional: false), Relationship("other", to: "Part")]),
            Entity("Chain", relationships: [Relationship("next", to: "Chain", isOptional: false)]),
            Entity("Key", relationships: [Relationship("lock", to: "Lock", isOptional: false, inverse: "key")]),
            Entity("Lock", relationships: [Relationship("key", to: "Key", inverse: "lock")]),
        ])
    }

    struct Row {
        var entity = "Note"
        var key: Int64
        var values: [String: Value] = [:]
        var version: Int64 = 1
    }

    func note(_ key: Int64, _ entity: String = "Note", _ values: [String: Value] = [:]) -> Row {
        Row(entity: entity, key: key, values: ["text": .string("n\(key)")].merging(values) { $1 })
    }

    func store(_ storage: any StorageInterface, _ rows: [Row], links: [String: [LinkPair]] = [:]) throws -> OpenStore {
        let store = try OpenStore(opening: storage, OpenRequest(schema: schema)), writer = try store.beginWrite(WriteOptions(bulk: .whole))
        defer { writer.end() }
        let batch = RowBatch()
        for root in schema.roots {
            batch.clear()
            for row in rows {
                let entity = try #require(schema.index(of: row.entity))
                if schema[entity].root != root { continue }
                let cells = batch.appendRow(key: row.key, version: row.version, entity: entity, slots: schema[entity].slots.count)
                for (slot, content) in schema[entity].slots.enumerated() {
                    cells[slot] = batch.cell(for: row.values[content.name] ?? .null)
                }
            }
            if batch.count > 0 { try writer.load(root, batch) }
        }
        for (name, pairs) in links { try writer.load(link: try #require(schema.links.firstIndex { $0.name == name }), pairs) }
        _ = try writer.commit(CommitRecord())
        return store
    }

    func findings(_ store: OpenStore) throws -> [String] {
        var found: [String] = []
        try TransferEngine().check(store) { found.append($0.description) }
        return found
    }

    func repair(_ store: OpenStore, _ options: RepairOptions = RepairOptions()) throws -> RepairReport {
        let plan = try TransferEngine().planRepair(of: store, options) { _ in }
        return try TransferEngine().repair(store, plan)
    }

    func keys(_ store: OpenStore, _ entity: String) throws -> [Int64] {
        let reader = try store.beginRead(), batch = RowBatch(capacity: 1000)
        defer { reader.end() }
        let cursor = try reader.cursor(for: FetchPlan(schema, try #require(schema.index(of: entity))))
        var keys: [Int64] = []
        while try cursor.next(into: batch) { keys += (0..<batch.count).map(batch.key) }
        return keys
    }

    func value(_ store: OpenStore, _ entity: String, _ key: Int64, _ property: String) throws -> (Value?, version: Int64) {
        let reader = try store.beginRead(), batch = RowBatch(), index = try #require(schema.index(of: entity))
        defer { reader.end() }
        try reader.rows(index, keys: [key], into: batch)
        try #require(batch.count == 1)
        let row = batch.row(0), slot = try #require(schema[index].slot(property))
        return (Value(row[slot], as: schema[index].slots[slot].type), row.version)
    }

    func members(_ store: OpenStore, _ link: String) throws -> [String] {
        let reader = try store.beginRead()
        defer { reader.end() }
        var found: [String] = []
        try reader.links(try #require(schema.links.firstIndex { $0.name == link }), side: .owner, keys: nil) { pairs in
            found += pairs.map { "\($0.owner)-\($0.member)" }
        }
        return found
    }

    func entries(_ store: OpenStore) throws -> [HistoryEntry] {
        let reader = try store.beginRead()
        defer { reader.end() }
        return try reader.history(since: nil, limit: 100)
    }

    private func broken(_ kind: TestStore) throws -> OpenStore {
        try store(
            kind.make(),
            [
                note(1, "Note", ["twin": .int(2), "rank": .int(7)]), note(2, "Poem", ["body": .string("spring rain")]),
                note(3, "Poem", ["twin": .int(77), "rank": .int(8)]), note(4, "Note", ["text": .null]),
                note(5, "Note", ["twin": .int(4)]), Row(entity: "Part", key: 1, values: ["whole": .int(1)]),
                Row(entity: "Part", key: 2, values: ["whole": .int(4)]), Row(entity: "Part", key: 3, values: ["whole": .int(1)]),
                Row(entity: "Label", key: 1, values: ["part": .int(2), "other": .int(1)]),
                Row(entity: "Label", key: 2, values: ["part": .int(1), "other": .int(2)]),
            ],
            links: [
                "Note.tags": [
                    LinkPair(owner: 1, member: 99), LinkPair(owner: 98, member: 1), LinkPair(owner: 1, member: 4),
                    LinkPair(owner: 2, member: 1),
                ],
                "Note.parts": [
                    LinkPair(owner: 1, rank: 5, member: 1), LinkPair(owner: 3, rank: 5, member: 1), LinkPair(owner: 4, rank: 1, member: 2),
                ],
            ])
    }

    @Test(arguments: TestStore.all) func aRepairMendsWhatNeedsNoRemoval(_ kind: TestStore) throws {
        let store = try broken(kind)
        defer { try? store.erase() }
        var consents: [CheckRepair.Consent?] = []
        let plan = try TransferEngine().planRepair(of: store) { consents.append($0.repair?.consent) }
        #expect(plan.findings == 8 && plan.unmended == 1 && !plan.isFileDamaged && !plan.removesUnreadable)
        #expect(consents.filter { $0 == .deletingBroken }.count == 1 && !consents.contains(.removingUnreadable))
        #expect(plan.changes == 7)
        let report = try TransferEngine().repair(store, plan)
        #expect(report.changes == 7 && report.remaining == 1)
        #expect(try findings(store) == ["Note.text of object 4: the attribute is required but nil"])
        #expect(try value(store, "Note", 2, "twin") == (.int(1), 2))
        #expect(try value(store, "Note", 1, "twin") == (.int(2), 1))
        #expect(try value(store, "Note", 3, "twin") == (.null, 2))
        #expect(try value(store, "Note", 4, "twin") == (.int(5), 2))
        #expect(try members(store, "Note.tags") == ["1-4", "2-1"])
        #expect(try members(store, "Note.parts") == ["1-1", "1-3", "4-2"])
        // Followers learn which objects have changed.
        let changes = try entries(store)
        #expect(changes.allSatisfy { $0.author == "polystore check --repair" })
        #expect(changes.flatMap(\.changes).filter { if case .update = $0.kind { true } else { false } }.map(\.key).sorted() == [2, 3, 4])
    }

    @Test(arguments: TestStore.all) func deletedObjectsTakeThoseWithThemThatCannotExistAlone(_ kind: TestStore) throws {
        let store = try broken(kind)
        defer { try? store.erase() }
        var sentences: [String] = []
        let plan = try TransferEngine().planRepair(of: store, RepairOptions(deletesBroken: true)) { sentences.append($0.description) }
        #expect(sentences.contains("Part.whole of object 2: refers to object 4 of Note, which the repair removes"))
        #expect(sentences.contains("Label.part of object 1: refers to object 2 of Part, which the repair removes"))
        #expect(sentences.contains("Label.other of object 2: refers to object 2 of Part, which the repair removes"))
        let report = try TransferEngine().repair(store, plan)
        #expect(report.remaining == 0)
        #expect(try findings(store).isEmpty)
        #expect(try keys(store, "Note") == [1, 2, 3, 5] && keys(store, "Part") == [1, 3] && keys(store, "Label") == [2])
        #expect(try value(store, "Label", 2, "other") == (.null, 2))
        #expect(try value(store, "Note", 5, "twin") == (.null, 2))
        #expect(try members(store, "Note.tags") == ["2-1"])
        let deleted = try entries(store).flatMap(\.changes).filter { $0.kind == .delete }.map { "\(schema[$0.entity].name) \($0.key)" }
        #expect(deleted.sorted() == ["Label 1", "Note 4", "Part 2"])
    }

    @Test(arguments: TestStore.all) func aWholeStoreIsNotChanged(_ kind: TestStore) throws {
        let store = try store(
            kind.make(),
            [
                note(1, "Note", ["twin": .int(2), "body": .string("a b"), "rank": .int(1)]),
                note(2, "Poem", ["twin": .int(1), "metre": .string("x"), "body": .string("")]), note(8, "Note", ["twin": .int(8)]),
                Row(entity: "Part", key: 1, values: ["whole": .int(1)]), Row(entity: "Part", key: 2, values: ["whole": .int(8)]),
            ],
            links: [
                "Note.tags": [LinkPair(owner: 1, member: 2), LinkPair(owner: 8, member: 8)],
                "Note.parts": [LinkPair(owner: 1, rank: 1, member: 1), LinkPair(owner: 8, rank: 1, member: 2)],
            ])
        defer { try? store.erase() }
        let options = RepairOptions(deletesBroken: true, removesUnreadable: true)
        var sentences: [String] = []
        let plan = try TransferEngine().planRepair(of: store, options) { sentences.append($0.description) }
        #expect(sentences.isEmpty && plan.changes == 0)
        let report = try TransferEngine().repair(store, plan)
        #expect(report.changes == 0 && report.remaining == 0)
        #expect(try entries(store).isEmpty)
        for key: Int64 in [1, 2, 8] { #expect(try value(store, "Note", key, "text").version == 1) }
    }

    @Test(arguments: TestStore.all) func aRepairOfAStoreThatChangesMeanwhileIsRefused(_ kind: TestStore) throws {
        let store = try broken(kind)
        defer { try? store.erase() }
        let plan = try TransferEngine().planRepair(of: store) { _ in }
        let writer = try store.beginWrite(), part = try #require(schema.index(of: "Part"))
        let deletion = EntityChanges(entity: part, deletes: [RowDeletion(key: 1)])
        try writer.apply(ChangeSet(entities: [deletion]))
        _ = try writer.commit(CommitRecord())
        let error = #expect(throws: StorageError.self) { try TransferEngine().repair(store, plan) }
        #expect(error?.code == .staleObject)
        #expect(try value(store, "Note", 3, "twin") == (.int(77), 1))
    }

    @Test(arguments: TestStore.all) func twoObjectsThatClaimOneDestinationAreSettled(_ kind: TestStore) throws {
        let store = try store(kind.make(), [note(1, "Note", ["twin": .int(3)]), note(2, "Note", ["twin": .int(3)]), note(3)])
        defer { try? store.erase() }
        #expect(try repair(store).remaining == 0)
        #expect(try value(store, "Note", 1, "twin").0 == .int(3) && value(store, "Note", 3, "twin").0 == .int(1))
        #expect(try value(store, "Note", 2, "twin").0 == .null)
    }

    @Test(arguments: TestStore.all) func aReferenceThatLeadsNowhereGivesWayToOneThatIsClaimed(_ kind: TestStore) throws {
        let store = try store(kind.make(), [note(1, "Note", ["twin": .int(2)]), note(2, "Note", ["twin": .int(77)])])
        defer { try? store.erase() }
        #expect(try repair(store).remaining == 0)
        #expect(try value(store, "Note", 2, "twin") == (.int(1), 2))
    }
}

func == (a: (Value?, version: Int64), b: (Value?, Int64)) -> Bool { a.0 == b.0 && a.version == b.1 }
