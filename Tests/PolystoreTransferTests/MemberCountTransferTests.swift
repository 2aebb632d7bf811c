import Foundation
import PolystoreStorage
import PolystoreTransfer
import Synchronization
import TestStores
import Testing

/// Transfers that leave out objects which would have too few or too many members (`onError`), between all stores.
@Suite struct MemberCountTransferTests {
    /// Each store as the source and as the target.
    private static let pairs = TestStore.all.flatMap { $0 == .memory ? [($0, $0)] : [(.memory, $0), ($0, .memory)] }

    private func open(_ kind: TestStore, _ schema: Schema) throws -> OpenStore {
        try OpenStore(opening: kind.make(), OpenRequest(schema: schema))
    }

    private func options(_ change: (inout TransferOptions) throws -> Void) rethrows -> TransferOptions {
        var options = TransferOptions()
        try change(&options)
        return options
    }

    /// Item 3 of order 1 and item 5 of order 2 break a rule; order 2 has too few without it, and what refers to it goes too.
    @Test(arguments: pairs) func anObjectWithTooFewMembersIsLeftOutWithThem(_ from: TestStore, _ to: TestStore) throws {
        let schema = try Schema(entities: [
            Entity("Order", relationships: [Relationship("items", to: "Item", .toMany, inverse: "order", minCount: 2)]),
            Entity(
                "Item", attributes: [Attribute("size", .int64, rules: AttributeRules(maximum: .int(8)))],
                relationships: [Relationship("order", to: "Order", inverse: "items")]),
            Entity("Bill", relationships: [Relationship("order", to: "Order", isOptional: false)]),
        ])
        let source = try open(from, schema), writer = try source.beginWrite(), batch = RowBatch()
        defer {
            writer.end()
            try? source.erase()
        }
        let (order, item, bill) = (
            try #require(schema.index(of: "Order")), try #require(schema.index(of: "Item")), try #require(schema.index(of: "Bill"))
        )
        for key in [1, 2] as [Int64] { _ = batch.appendRow(key: key, version: 1, entity: order, slots: 0) }
        try writer.load(order, batch)
        batch.clear()
        for (key, (size, owner)) in zip(1..., [(1, 1), (2, 1), (9, 1), (1, 2), (9, 2)] as [(Int64, Int64)]) {
            let cells = batch.appendRow(key: Int64(key), version: 1, entity: item, slots: 2)
            cells.initialize(to: .int(size))
            (cells + 1).initialize(to: .int(owner))
        }
        try writer.load(item, batch)
        batch.clear()
        for key in [1, 2] as [Int64] { batch.appendRow(key: key, version: 1, entity: bill, slots: 1).initialize(to: .int(key)) }
        try writer.load(bill, batch)
        _ = try writer.commit(CommitRecord())
        let target = try open(to, schema)
        defer { try? target.erase() }
        let report = try TransferEngine().transfer(from: source, to: target, options { $0.onError = .skip() })
        #expect(report.rejected.map { "\($0.entity) \($0.key)" }.sorted() == ["Bill 2", "Item 3", "Item 5", "Order 2"])
        #expect(
            report.rejected.first { $0.entity == "Order" }?.reason
                == "Order.items must have at least 2 objects, and others are left out")
        var findings: [String] = []
        try TransferEngine().check(target) { findings.append($0.description) }
        #expect(findings.isEmpty, "\(findings)")
        let accepting = options {
            $0.onError = .skip()
            $0.acceptedLosses = ["Order.items"]
        }
        let small = try open(to, schema)
        defer { try? small.erase() }
        #expect(try TransferEngine().transfer(from: source, to: small, accepting).rejected.map(\.entity) == ["Item", "Item"])
        // A merge is judged by what the target has then. Order 2 has another item there.
        let other = try open(to, schema), merging = try other.beginWrite()
        defer {
            merging.end()
            try? other.erase()
        }
        batch.clear()
        _ = batch.appendRow(key: 2, version: 1, entity: order, slots: 0)
        try merging.load(order, batch)
        batch.clear()
        for key in [4, 6] as [Int64] {
            let cells = batch.appendRow(key: key, version: 1, entity: item, slots: 2)
            cells.initialize(to: .int(1))
            (cells + 1).initialize(to: .int(2))
        }
        try merging.load(item, batch)
        _ = try merging.commit(CommitRecord())
        let merged = try TransferEngine().transfer(
            from: source, to: other,
            options {
                $0.onError = .skip()
                $0.existing = .merge
            })
        #expect(merged.rejected.map { "\($0.entity) \($0.key)" }.sorted() == ["Item 3", "Item 5"])
        try TransferEngine().check(other) { findings.append($0.description) }
        #expect(findings.isEmpty, "\(findings)")
    }

    /// Item 3 breaks a rule, so order 1 has too few and item 4 needs it. Order 7 of the target has item 4 as before then.
    @Test(arguments: pairs) func onlyObjectsOfTheSourceAreRejectedByAMerge(_ from: TestStore, _ to: TestStore) throws {
        let schema = try Schema(entities: [
            Entity("Order", relationships: [Relationship("items", to: "Item", .toMany, inverse: "order", minCount: 2)]),
            Entity(
                "Item", attributes: [Attribute("size", .int64, rules: AttributeRules(maximum: .int(8)))],
                relationships: [Relationship("order", to: "Order", isOptional: false, inverse: "items")]),
        ])
        func store(
            _ kind: TestStore, _ orders: [Int64], _ items: [(key: Int64, size: Int64, order: Int64)]
        ) throws -> OpenStore {
            let store = try open(kind, schema), writer = try store.beginWrite()
            defer { writer.end() }
            let order = try #require(schema.index(of: "Order")), item = try #require(schema.index(of: "Item")), batch = RowBatch()
            for key in orders { _ = batch.appendRow(key: key, version: 1, entity: order, slots: 0) }
            try writer.load(order, batch)
            batch.clear()
            for row in items {
                let cells = batch.appendRow(key: row.key, version: 1, entity: item, slots: 2)
                cells.initialize(to: .int(row.size))
                (cells + 1).initialize(to: .int(row.order))
            }
            try writer.load(item, batch)
            _ = try writer.commit(CommitRecord())
            return store
        }
        let source = try store(from, [1], [(3, 9, 1), (4, 1, 1)]), target = try store(to, [7], [(4, 1, 7), (6, 1, 7)])
        let empty = try store(to, [], [])
        defer { for store in [source, target, empty] { try? store.erase() } }
        let records = Mutex<[String]>([])
        let report = try TransferEngine().transfer(
            from: source, to: target,
            options {
                $0.onError = .skip()
                $0.existing = .merge
                $0.receiveRejects = { rejects throws(StorageError) in
                    try rejects.forEachRecord { row, _ in records.withLock { $0.append("\(row.entity) \(row.key)") } }
                }
            })
        #expect(report.rejected.map { "\($0.entity) \($0.key)" }.sorted() == ["Item 3", "Item 4", "Order 1"])
        #expect(records.withLock(\.self).sorted() == ["Item 3", "Item 4", "Order 1"])
        var findings: [String] = []
        try TransferEngine().check(target) { findings.append($0.description) }
        #expect(findings.isEmpty)
        // The plan of a merge into a target without objects is that of a copy.
        let reader = try source.beginRead(), present = try empty.beginRead()
        defer {
            reader.end()
            present.end()
        }
        let plan = try TransferPlan(
            reader, to: present,
            options {
                $0.onError = .skip()
                $0.existing = .merge
            }, nil, { _ in })
        #expect(plan.rejected == ["Item": 2, "Order": 1])
    }

    // MARK: Relationships of all kinds

    private typealias Row = (entity: String, key: Int64, values: [Value])

    /// Writes rows, and pairs of the only link table: the keys of one object and of another, of the entity that has the relationship and of
    /// that of its members.
    private func fill(_ store: OpenStore, _ rows: [Row], _ pairs: [(object: Int64, member: Int64)] = [], of entity: String = "") throws {
        let schema = store.schema, writer = try store.beginWrite()
        defer { writer.end() }
        for (name, rows) in Dictionary(grouping: rows, by: \.entity) {
            let entity = try #require(schema.index(of: name)), batch = RowBatch(capacity: rows.count)
            for row in rows.sorted(by: { $0.key < $1.key }) {
                let cells = batch.appendRow(key: row.key, version: 1, entity: entity, slots: row.values.count)
                for (slot, value) in row.values.enumerated() { (cells + slot).initialize(to: batch.cell(for: value)) }
            }
            try writer.load(schema[entity].root, batch)
        }
        if !pairs.isEmpty {
            let isOwner = schema.entities[schema.links[0].owner].name == entity
            let links = pairs.enumerated().map { position, pair in
                LinkPair(
                    owner: isOwner ? pair.object : pair.member, rank: Int64(position + 1) << 20,
                    member: isOwner ? pair.member : pair.object)
            }
            try writer.load(link: 0, links.sorted { ($0.owner, $0.member) < ($1.owner, $1.member) })
        }
        _ = try writer.commit(CommitRecord())
    }

    private func findings(_ store: OpenStore) throws -> [String] {
        var findings: [String] = []
        try TransferEngine().check(store) { findings.append($0.description) }
        return findings
    }

    /// The keys of the objects of an entity.
    private func keys(_ entity: String, _ store: OpenStore) throws -> [Int64] {
        let reader = try store.beginRead(), batch = RowBatch()
        defer { reader.end() }
        let cursor = try reader.cursor(for: FetchPlan(store.schema, try #require(store.schema.index(of: entity))))
        var keys: [Int64] = []
        while try cursor.next(into: batch) { keys += (0..<batch.count).map(batch.key) }
        return keys.sorted()
    }

    /// Courses need two students, and students a course. Student 4 breaks a rule, so course 2 has one left, and student 5 has only this.
    @Test(arguments: pairs, [true, false])
    func membersInALinkTableAreCounted(_ stores: (from: TestStore, to: TestStore), _ isInSteps: Bool) throws {
        let schema = try Schema(entities: [
            Entity(
                "Course", attributes: [Attribute("name", .string)],
                relationships: [Relationship("students", to: "Student", .toManyOrdered, inverse: "courses", minCount: 2)]),
            Entity(
                "Student", attributes: [Attribute("age", .int64, rules: AttributeRules(maximum: .int(99)))],
                relationships: [Relationship("courses", to: "Course", .toMany, isOptional: false, inverse: "students")]),
        ])
        let source = try open(stores.from, schema), target = try open(stores.to, schema)
        defer { for store in [source, target] { try? store.erase() } }
        try fill(
            source,
            [("Course", 1, [.string("a")]), ("Course", 2, [.string("b")]), ("Course", 3, [.string("c")])]
                + [(1, 20), (2, 20), (3, 20), (4, 200), (5, 20)].map { ("Student", $0.0, [.int($0.1)]) },
            [(1, 1), (1, 2), (2, 4), (2, 5), (3, 2), (3, 3), (3, 4)], of: "Course")
        let report = try TransferEngine().transfer(
            from: source, to: target,
            options {
                $0.onError = .skip()
                $0.source = isInSteps ? "memory:courses" : nil
            })
        #expect(report.rejected.map { "\($0.entity) \($0.key)" }.sorted() == ["Course 2", "Student 4", "Student 5"])
        #expect(try keys("Course", target) == [1, 3] && keys("Student", target) == [1, 2, 3])
        #expect(try findings(target).isEmpty)
    }

    /// An album needs two pictures or texts, which are parts in an order. Part 3 breaks a rule, and cover 1 must refer to the album.
    @Test(arguments: pairs) func membersOfSubentitiesInAnOrderAreCounted(_ from: TestStore, _ to: TestStore) throws {
        let schema = try Schema(entities: [
            Entity(
                "Part", isAbstract: true, attributes: [Attribute("size", .int64, rules: AttributeRules(maximum: .int(8)))],
                relationships: [Relationship("album", to: "Album", inverse: "parts")]),
            Entity("Picture", parent: "Part"), Entity("Text", parent: "Part"),
            Entity("Album", relationships: [Relationship("parts", to: "Part", .toManyOrdered, inverse: "album", minCount: 2)]),
            Entity("Cover", relationships: [Relationship("album", to: "Album", isOptional: false)]),
        ])
        let source = try open(from, schema), target = try open(to, schema)
        defer { for store in [source, target] { try? store.erase() } }
        try fill(
            source,
            [("Album", 1, []), ("Album", 2, []), ("Cover", 1, [.int(1)]), ("Cover", 2, [.int(2)])] + [
                ("Picture", 1, [.int(1), .int(2)]), ("Picture", 2, [.int(1), .int(1)]), ("Picture", 3, [.int(9), .int(1)]),
                ("Picture", 5, [.int(9), .int(2)]),
            ], [(2, 5), (2, 4), (1, 3), (1, 2), (2, 1)], of: "Album")
        try fill(source, [("Text", 4, [.int(1), .int(2)])])
        let report = try TransferEngine().transfer(from: source, to: target, options { $0.onError = .skip() })
        #expect(report.rejected.map { "\($0.entity) \($0.key)" }.sorted() == ["Album 1", "Cover 1", "Picture 3", "Picture 5"])
        #expect(report.removedReferences == ["Picture.album": 1])
        #expect(try keys("Part", target) == [1, 2, 4] && keys("Album", target) == [2] && keys("Cover", target) == [2])
        #expect(try findings(target).isEmpty)
    }

    // MARK: Too many

    private func boxes(isOptional: Bool) throws -> Schema {
        try Schema(entities: [
            Entity(
                "Box", attributes: [Attribute("name", .string)],
                relationships: [Relationship("things", to: "Thing", .toMany, inverse: "box", maxCount: 2)]),
            Entity(
                "Thing", attributes: [Attribute("size", .int64)],
                relationships: [Relationship("box", to: "Box", isOptional: isOptional, inverse: "things")]),
        ])
    }

    /// Box 1 of the source has three things, which break the rule there too.
    @Test(arguments: pairs, [true, false])
    func anObjectOfTheSourceWithTooManyMembersIsLeftOutOfATargetWithObjects(
        _ stores: (from: TestStore, to: TestStore), _ isOptional: Bool
    ) throws {
        let schema = try boxes(isOptional: isOptional), source = try open(stores.from, schema), target = try open(stores.to, schema)
        defer { for store in [source, target] { try? store.erase() } }
        try fill(
            source,
            [("Box", 1, [.string("full")]), ("Box", 2, [.string("other")])]
                + [(1, 1), (2, 1), (3, 1), (4, 2), (5, 2)].map { ("Thing", $0.0, [.int(1), .int($0.1)]) })
        try fill(target, [("Box", 7, [.string("old")])] + [(8, 7), (9, 7)].map { ("Thing", $0.0, [.int(1), .int($0.1)]) })
        let report = try TransferEngine().transfer(
            from: source, to: target,
            options {
                $0.onError = .skip()
                $0.existing = .merge
            })
        let things = isOptional ? [] : ["Thing 1", "Thing 2", "Thing 3"]
        #expect(report.rejected.map { "\($0.entity) \($0.key)" }.sorted() == ["Box 1"] + things)
        #expect(report.rejected.first { $0.entity == "Box" }?.reason == "Box.things must have 0 to 2 objects")
        #expect(report.removedReferences == (isOptional ? ["Thing.box": 3] : [:]))
        #expect(try keys("Thing", target) == (isOptional ? [1, 2, 3, 4, 5, 8, 9] : [4, 5, 8, 9]) && keys("Box", target) == [2, 7])
        #expect(try findings(target).isEmpty)
    }

    /// Box 1 of the target has two other things. If it is left out, those of the source still refer to it.
    @Test(arguments: pairs, [true, false])
    func aTransferThatGivesAnObjectOfTheTargetTooManyMembersChangesNothing(
        _ stores: (from: TestStore, to: TestStore), _ isOptional: Bool
    ) throws {
        let schema = try boxes(isOptional: isOptional), source = try open(stores.from, schema), target = try open(stores.to, schema)
        defer { for store in [source, target] { try? store.erase() } }
        try fill(
            source,
            [("Box", 1, [.string("new")]), ("Box", 2, [.string("other")])]
                + [(3, 1), (4, 1), (5, 2)].map { ("Thing", $0.0, [.int(1), .int($0.1)]) })
        try fill(target, [("Box", 1, [.string("old")])] + [(8, 1), (9, 1)].map { ("Thing", $0.0, [.int(1), .int($0.1)]) })
        let error = #expect(throws: StorageError.self) {
            try TransferEngine().transfer(
                from: source, to: target,
                options {
                    $0.onError = .skip()
                    $0.existing = .merge
                })
        }
        #expect(error?.code == .validationFailed && error?.details.keys == [1] && error?.details.property == "things")
        #expect(error?.message.hasSuffix("nothing was written: Box.things of object 1 must have 0 to 2 objects") == true)
        #expect(try keys("Thing", target) == [8, 9] && keys("Box", target) == [1])
        #expect(try findings(target).isEmpty)
    }
}
