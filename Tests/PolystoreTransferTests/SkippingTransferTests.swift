import Foundation
import PolystoreInMemory
import PolystoreStorage
import PolystoreTransfer
import Synchronization
import TestStores
import Testing

/// Transfers that leave out the rows that the target cannot take (`onError`).
@Suite struct SkippingTransferTests {
    private typealias Row = (entity: String, key: Int64, values: [Value])

    /// Line 2 breaks a rule, so product 2 and its part 2 cannot be copied. The size of maker 2 is no integer, and that of maker 3 as an integer
    /// is the one of maker 1.
    private static let rows: [Row] = [
        ("Line", 1, [.string("round"), .double(50)]), ("Line", 2, [.string("square"), .double(500)]),
        ("Maker", 1, [.string("7")]), ("Maker", 2, [.string("x")]), ("Maker", 3, [.string("07")]),
        ("Product", 1, [.string("p1"), .int(1), .int(1)]), ("Product", 2, [.string("p2"), .int(2), .int(1)]),
        ("Product", 3, [.string("p3"), .int(1), .int(2)]),
        ("Part", 1, [.int(1)]), ("Part", 2, [.int(2)]), ("Part", 3, [.int(3)]),
        ("Tag", 1, [.string("red")]), ("Tag", 2, [.string("blue")]),
    ]

    private static let members: [(product: Int64, tag: Int64)] = [(1, 1), (1, 2), (2, 1), (2, 2), (3, 2)]

    private func shop() throws -> Schema {
        try Schema(entities: [
            Entity(
                "Line", attributes: [Attribute("name", .string), Attribute("price", .double, rules: AttributeRules(maximum: .double(100)))]),
            Entity("Maker", attributes: [Attribute("size", .string)], uniqueConstraints: [UniqueConstraint(["size"])]),
            Entity(
                "Product", attributes: [Attribute("name", .string)],
                relationships: [
                    Relationship("line", to: "Line", isOptional: false), Relationship("maker", to: "Maker"),
                    Relationship("tags", to: "Tag", .toMany, inverse: "products"),
                ]),
            Entity("Part", relationships: [Relationship("whole", to: "Product", isOptional: false)]),
            Entity(
                "Tag", attributes: [Attribute("label", .string)],
                relationships: [Relationship("products", to: "Product", .toMany, inverse: "tags")]),
        ])
    }

    private let mapping = TransferMapping(renames: ["Product": "Article"], types: ["Maker.size": .init(.int64)])

    private func store(
        _ kind: TestStore, _ schema: Schema, _ rows: [Row], members: [(product: Int64, tag: Int64)] = []
    ) throws -> OpenStore {
        let store = try OpenStore(opening: kind.make(), OpenRequest(schema: schema)), writer = try store.beginWrite()
        defer { writer.end() }
        for (name, rows) in Dictionary(grouping: rows, by: \.entity) {
            let entity = try #require(schema.index(of: name)), batch = RowBatch(capacity: rows.count)
            for row in rows.sorted(by: { $0.key < $1.key }) {
                let cells = batch.appendRow(key: row.key, version: 1, entity: entity, slots: row.values.count)
                for (slot, value) in row.values.enumerated() { (cells + slot).initialize(to: batch.cell(for: value)) }
            }
            try writer.load(schema[entity].root, batch)
        }
        if !members.isEmpty {
            let isOwner = schema.entities[schema.links[0].owner].name == "Product"
            let pairs = members.map {
                LinkPair(owner: isOwner ? $0.product : $0.tag, rank: 0, member: isOwner ? $0.tag : $0.product)
            }
            try writer.load(link: 0, pairs.sorted { ($0.owner, $0.member) < ($1.owner, $1.member) })
        }
        _ = try writer.commit(CommitRecord())
        return store
    }

    private func options(_ change: (inout TransferOptions) -> Void = { _ in }) -> TransferOptions {
        var options = TransferOptions()
        options.onError = .skip(most: 100)
        change(&options)
        return options
    }

    /// Returns a line for each object, and the pairs of each link table, in the order of their names.
    private func contents(_ store: OpenStore) throws -> [String] {
        let reader = try store.beginRead(), schema = store.schema
        defer { reader.end() }
        var lines: [String] = []
        for root in schema.roots {
            let cursor = try reader.cursor(for: FetchPlan(schema, root)), batch = RowBatch()
            while try cursor.next(into: batch) {
                for index in 0..<batch.count {
                    let row = batch.row(index), slots = schema[row.entity].slots
                    let values = slots.indices.map { "\(slots[$0].name)=\(Value(row[$0], as: slots[$0].type)?.description ?? "?")" }
                    lines.append("\(schema.entities[row.entity].name) \(row.key): \(values.joined(separator: " "))")
                }
            }
        }
        for (link, description) in schema.links.enumerated() {
            let isOwner = schema.entities[description.owner].name == "Article"
            try reader.links(link, side: .owner, keys: nil) { pairs in
                lines += pairs.map { isOwner ? "\($0.owner) has tag \($0.member)" : "\($0.member) has tag \($0.owner)" }
            }
        }
        return lines.sorted()
    }

    private func findings(_ store: OpenStore) throws -> [String] {
        var findings: [String] = []
        try TransferEngine().check(store) { findings.append($0.description) }
        return findings
    }

    private static let copied = [
        "1 has tag 1", "1 has tag 2", "3 has tag 2",
        "Article 1: name=\"p1\" line=1 maker=1", "Article 3: name=\"p3\" line=1 maker=null", "Line 1: name=\"round\" price=50.0",
        "Maker 1: size=7", "Part 1: whole=1", "Part 3: whole=3", "Tag 1: label=\"red\"", "Tag 2: label=\"blue\"",
    ].sorted()

    private static let reasons = [
        "Article 2 line: Article.line is required, and the object 2 of Line is left out",
        "Line 2 price: Line.price is 500.0, but must be at most 100.0",
        "Maker 2 size: Maker.size is \"x\", which has no exact equivalent of type int64",
        "Maker 3 size: the object 1, which comes before, has the same size",
        "Part 2 whole: Part.whole is required, and the object 2 of Article is left out",
    ]

    @Test(arguments: TestStore.all, [true, false])
    func rowsThatCannotBeCopiedAreLeftOutWithThoseThatNeedThem(_ kind: TestStore, _ isInSteps: Bool) throws {
        let schema = try shop(), source = try store(.memory, schema, Self.rows, members: Self.members)
        let target = try OpenStore(opening: kind.make(), OpenRequest(schema: try mapping.schema(for: schema)))
        let records = Mutex<[[String]]>([])
        let options = options {
            $0.mapping = mapping
            $0.source = isInSteps ? "memory:shop" : nil
            $0.receiveRejects = { rejects throws(StorageError) in
                var found: [String] = []
                try rejects.forEachRecord { _, record in found.append(record) }
                records.withLock { $0.append(found) }
            }
        }
        let report = try TransferEngine().transfer(from: source, to: target, options)
        #expect(report.rejected.map { "\($0.entity) \($0.key) \($0.property ?? "-"): \($0.reason)" }.sorted() == Self.reasons)
        #expect(report.rejectedCounts == ["Article": 1, "Line": 1, "Maker": 2, "Part": 1])
        #expect(report.removedReferences == ["Product.maker": 1] && report.omittedMembers.values.reduce(0, +) == 2)
        #expect(report.isVerified && !report.wasComplete)
        #expect(try contents(target) == Self.copied)
        #expect(try findings(target).isEmpty)
        let written = try #require(records.withLock { $0.count == 1 ? $0[0] : nil })
        #expect(
            written.contains(
                #"{"polystore_entity":"Article","polystore_key":2,"name":"p2","line":2,"maker":1,"tags":[1,2],"polystore_property":"line","#
                    + #""polystore_reason":"Article.line is required, and the object 2 of Line is left out"}"#), "\(written)")
        if isInSteps { #expect(try TransferEngine().transfer(from: source, to: target, options).wasComplete) }
        try load(written, into: target)
    }

    /// Loads the records after a correction.
    private func load(_ records: [String], into target: OpenStore) throws {
        let text = records.joined(separator: "\n")
        let wrong = try #require(try LoadMapping(objectsIn: FileBlocks(Data(text.utf8)), "rejects.ndjson"))
        let error = #expect(throws: StorageError.self) {
            try FileLoader.load(wrong, into: target) { _ in FileBlocks(Data(text.utf8)) }
        }
        #expect(error?.code == .validationFailed || error?.code == .valueNotStorable)
        #expect(try contents(target) == Self.copied)
        let mended = text.replacing("\"price\":500", with: "\"price\":60").replacing("\"size\":\"x\"", with: "\"size\":8")
            .replacing("\"polystore_key\":3,\"size\":7", with: "\"polystore_key\":3,\"size\":9")
        _ = try FileLoader.load(wrong, into: target) { _ in FileBlocks(Data(mended.utf8)) }
        let added = [
            "2 has tag 1", "2 has tag 2", "Article 2: name=\"p2\" line=2 maker=1", "Line 2: name=\"square\" price=60.0", "Maker 2: size=8",
            "Maker 3: size=9", "Part 2: whole=2",
        ]
        #expect(try contents(target) == (Self.copied + added).sorted())
        #expect(try findings(target).isEmpty)
        // The keys are taken now, and a record that is loaded twice is refused by itself.
        let rejects = LoadRejects()
        _ = try FileLoader.load(wrong, into: target, rejects: rejects) { _ in FileBlocks(Data(mended.utf8)) }
        #expect(rejects.count == 5)
    }

    @Test func theDefaultEndsTheTransfer() throws {
        let schema = try shop(), source = try store(.memory, schema, Self.rows)
        let target = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: try mapping.schema(for: schema)))
        var stopping = TransferOptions()
        stopping.mapping = mapping
        let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, stopping) }
        #expect(error?.code == .dataLossRefused)
    }

    @Test func tooManyRowsEndTheTransferBeforeAnythingIsCopied() throws {
        let schema = try shop(), source = try store(.memory, schema, Self.rows)
        for (most, isEnough) in [(4, false), (5, true)] {
            let target = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: try mapping.schema(for: schema)))
            let result = Result {
                try TransferEngine().transfer(
                    from: source, to: target,
                    options {
                        $0.mapping = mapping
                        $0.onError = .skip(most: most)
                    })
            }
            #expect(((try? result.get()) != nil) == isEnough)
            if isEnough { continue }
            let error = #expect(throws: StorageError.self) { try result.get() }
            #expect(error?.code == .limitExceeded && error?.message.contains("more than 4 rows") == true)
            #expect(try contents(target).isEmpty)
        }
    }

    @Test(arguments: TestStore.all) func bothEndsOfAOneToOneRelationshipAreLoadedAgain(_ kind: TestStore) throws {
        let schema = try Schema(entities: [
            Entity(
                "Car", attributes: [Attribute("seats", .int64, rules: AttributeRules(maximum: .int(9)))],
                relationships: [Relationship("owner", to: "Person", inverse: "car")]),
            Entity(
                "Person", attributes: [Attribute("age", .int64, rules: AttributeRules(maximum: .int(150)))],
                relationships: [Relationship("car", to: "Car", inverse: "owner")]),
        ])
        // Car 1 and person 1 belong together, and so do 2 and 2. Both cars and the second person break a rule.
        let source = try store(
            .lmdb, schema,
            [
                ("Car", 1, [.int(50), .int(1)]), ("Car", 2, [.int(60), .int(2)]), ("Person", 1, [.int(40), .int(1)]),
                ("Person", 2, [.int(200), .int(2)]),
            ])
        let target = try OpenStore(opening: kind.make(), OpenRequest(schema: schema)), records = Mutex("")
        let report = try TransferEngine().transfer(
            from: source, to: target,
            options {
                $0.receiveRejects = { rejects throws(StorageError) in
                    try rejects.forEachRecord { _, record in records.withLock { $0 += "\(record)\n" } }
                }
            })
        #expect(report.removedReferences == ["Person.car": 1])
        #expect(try contents(target) == ["Person 1: age=40 car=null"])
        let text = records.withLock { $0 }.replacing("0,\"owner\"", with: ",\"owner\"").replacing("200", with: "20")
        let mapping = try #require(try LoadMapping(objectsIn: FileBlocks(Data(text.utf8)), "rejects.ndjson"))
        _ = try FileLoader.load(mapping, into: target) { _ in FileBlocks(Data(text.utf8)) }
        #expect(
            try contents(target) == [
                "Car 1: seats=5 owner=1", "Car 2: seats=6 owner=2", "Person 1: age=40 car=1", "Person 2: age=20 car=2",
            ])
        #expect(try findings(target).isEmpty)
        // A key that leaves no room for others is refused.
        let great = text.replacing("\"polystore_key\":2", with: "\"polystore_key\":9223372036854775807")
        #expect(throws: StorageError.self) { try FileLoader.load(mapping, into: target) { _ in FileBlocks(Data(great.utf8)) } }
    }

    // MARK: What only the target finds

    @Test(.enabled(if: TestStore.server != nil), arguments: [true, false])
    func aTextThatIsTooLongForAnIndexOfPostgreSQLIsLeftOut(_ isInSteps: Bool) throws {
        let schema = try Schema(entities: [
            Entity(
                "Doc", attributes: [Attribute("text", .string)], relationships: [Relationship("next", to: "Doc")],
                indexes: [Index(["text"])])
        ])
        var random = SystemRandomNumberGenerator()
        // Characters that do not compress.
        let long = String((0..<20_000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 33...126, using: &random))) })
        let rows: [Row] = (1...9000).map { key in
            ("Doc", key, [.string(key == 5 || key == 8999 ? long : "t\(key)"), key == 2 ? .int(8999) : .null])
        }
        let source = try store(.sqlite, schema, rows),
            target = try OpenStore(opening: TestStore.postgresql.make(), OpenRequest(schema: schema))
        let report = try TransferEngine().transfer(
            from: source, to: target,
            options {
                $0.source = isInSteps ? "sqlite:docs" : nil
                $0.step = .zero
            })
        #expect(report.rejected.map(\.key) == [5, 8999])
        #expect(report.rejected.allSatisfy { $0.reason.contains("too large for an index") }, "\(report.rejected)")
        #expect(report.removedReferences == ["Doc.next": 1])
        #expect(report.items.map(\.digest.count) == [8998] && report.isVerified)
        #expect(try contents(target).contains("Doc 2: text=\"t2\" next=null"))
        #expect(try findings(target).isEmpty)
        guard isInSteps else { return }
        // The same transfer says the same again, and leaves the same rows for a correction.
        let received = Mutex<[Int64]>([])
        let again = options {
            $0.source = "sqlite:docs"
            $0.receiveRejects = { rejects in received.withLock { $0 = rejects.rows.map(\.key) } }
        }
        let repeated = try TransferEngine().transfer(from: source, to: target, again)
        #expect(repeated.wasComplete && repeated.rejected == report.rejected && repeated.isVerified)
        #expect(received.withLock { $0 } == [5, 8999])
        let few = options {
            $0.source = "sqlite:docs"
            $0.onError = .skip(most: 1)
        }
        #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, few) }
        // A row that is another one now is not the one that was refused.
        let writer = try source.beginWrite()
        let mended = RowSource(count: 1) { _, batch in
            let cell = batch.cell(for: .string("short")), cells = batch.appendRow(key: 5, version: 1, entity: 0, slots: 2)
            cells.update(repeating: .null, count: 2)
            cells[0] = cell
        }
        let update = RowUpdate(mask: SlotMask([0]), checksVersion: false, rows: mended)
        try writer.apply(ChangeSet(entities: [EntityChanges(entity: 0, updates: [update])]))
        _ = try writer.commit(CommitRecord())
        let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, again) }
        #expect(error?.code == .alreadyExists && error?.message.contains("has changed since") == true)
    }

    @Test(.enabled(if: TestStore.server != nil)) func anInterruptedTransferContinuesWithoutTheRowsThatWereRefused() throws {
        let schema = try Schema(entities: [Entity("Doc", attributes: [Attribute("text", .string)], indexes: [Index(["text"])])])
        var random = SystemRandomNumberGenerator()
        let long = String((0..<20_000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 33...126, using: &random))) })
        let rows: [Row] = (1...30_000).map { ("Doc", $0, [.string($0 == 12_000 ? long : "t\($0)")]) }
        let source = try store(.memory, schema, rows)
        let target = try OpenStore(opening: TestStore.postgresql.make(), OpenRequest(schema: schema)), limit = WorkLimit()
        let inSteps = options {
            $0.source = "memory:docs"
            $0.step = .zero
        }
        // It is interrupted after it has begun again without the refused row.
        var last = 0, hasBegunAgain = false
        let error = #expect(throws: StorageError.self) {
            try TransferEngine(limit: limit).transfer(from: source, to: target, inSteps) {
                hasBegunAgain = hasBegunAgain || $0.allDone < last
                last = $0.allDone
                if hasBegunAgain, last > 17_000 { limit.cancel() }
            }
        }
        #expect(error?.code == .cancelled)
        let report = try TransferEngine().transfer(from: source, to: target, inSteps)
        #expect(report.continued > 12_000 && report.rejected.map(\.key) == [12_000])
        #expect(report.items.map(\.digest.count) == [29_999])
        #expect(try TransferEngine().transfer(from: source, to: target, inSteps).wasComplete)
    }

    @Test(.enabled(if: TestStore.server != nil)) func aRowThatIsRefusedAfterAStepNeedsItEndsACopyInSteps() throws {
        let schema = try Schema(entities: [
            Entity(
                "Doc", attributes: [Attribute("text", .string)], relationships: [Relationship("next", to: "Doc")],
                indexes: [Index(["text"])])
        ])
        var random = SystemRandomNumberGenerator()
        let long = String((0..<20_000).map { _ in Character(Unicode.Scalar(UInt8.random(in: 33...126, using: &random))) })
        let rows: [Row] = (1...9000).map { ("Doc", $0, [.string($0 == 8999 ? long : "t\($0)"), $0 == 2 ? .int(8999) : .null]) }
        let source = try store(.sqlite, schema, rows),
            target = try OpenStore(opening: TestStore.postgresql.make(), OpenRequest(schema: schema))
        let inSteps = options {
            $0.source = "sqlite:docs"
            $0.step = .zero
        }
        let error = #expect(throws: StorageError.self) { try TransferEngine().transfer(from: source, to: target, inSteps) }
        #expect(error?.code == .incompleteCopy && error?.message.contains("in one transaction") == true)
        let other = try OpenStore(opening: TestStore.postgresql.make(), OpenRequest(schema: schema))
        #expect(try TransferEngine().transfer(from: source, to: other, options()).rejected.map(\.key) == [8999])
        #expect(try contents(other).contains("Doc 2: text=\"t2\" next=null"))
    }

    @Test(arguments: TestStore.all, [TransferOptions.ExistingObjects.append, .merge, .replace])
    func anObjectThatATargetWithObjectsRefusesIsLeftOut(_ kind: TestStore, _ existing: TransferOptions.ExistingObjects) throws {
        let schema = try Schema(entities: [
            Entity(
                "User", attributes: [Attribute("name", .string, rules: AttributeRules(maxLength: 3))],
                uniqueConstraints: [UniqueConstraint(["name"])]),
            Entity("Post", relationships: [Relationship("author", to: "User", isOptional: false)]),
        ])
        // User 2 has the name of user 1 of the target, and the name of user 4 is too long.
        let source = try store(
            .lmdb, schema,
            [
                ("User", 2, [.string("a")]), ("User", 3, [.string("b")]), ("User", 4, [.string("long")]),
                ("Post", 1, [.int(2)]), ("Post", 2, [.int(3)]),
            ])
        let target = try store(kind, schema, [("User", 1, [.string("a")])])
        let report = try TransferEngine().transfer(from: source, to: target, options { $0.existing = existing })
        switch existing {
        case .replace:
            #expect(report.rejected.map { "\($0.entity) \($0.key)" } == ["User 4"])
            #expect(try contents(target) == ["Post 1: author=2", "Post 2: author=3", "User 2: name=\"a\"", "User 3: name=\"b\""])
        case .append, .merge, .fail:
            #expect(report.rejected.map { "\($0.entity) \($0.key)" }.sorted() == ["Post 1", "User 2", "User 4"])
            #expect(try contents(target) == ["Post 2: author=3", "User 1: name=\"a\"", "User 3: name=\"b\""])
        }
        #expect(try findings(target).isEmpty)
    }

    @Test(arguments: TestStore.all) func anObjectThatKeepsItsFormerValueInTheTargetIsStillReferredTo(_ kind: TestStore) throws {
        let schema = try Schema(entities: [
            Entity("User", attributes: [Attribute("name", .string, rules: AttributeRules(maxLength: 3))]),
            Entity("Post", relationships: [Relationship("author", to: "User", isOptional: false)]),
        ])
        let source = try store(.sqlite, schema, [("User", 1, [.string("long")]), ("Post", 1, [.int(1)])])
        let target = try store(kind, schema, [("User", 1, [.string("old")])])
        let report = try TransferEngine().transfer(from: source, to: target, options { $0.existing = .merge })
        #expect(report.rejected.map { "\($0.entity) \($0.key)" } == ["User 1"])
        #expect(try contents(target) == ["Post 1: author=1", "User 1: name=\"old\""])
    }

    // MARK: One-to-one relationships with objects that are not copied

    /// Cars and their owners. A car has at most nine seats.
    private func cars() throws -> Schema {
        try Schema(entities: [
            Entity(
                "Car", attributes: [Attribute("seats", .int64, rules: AttributeRules(maximum: .int(9)))],
                relationships: [Relationship("owner", to: "Person", inverse: "car")]),
            Entity(
                "Person", attributes: [Attribute("age", .int64, rules: AttributeRules(maximum: .int(150)))],
                relationships: [Relationship("car", to: "Car", inverse: "owner"), Relationship("spouse", to: "Person", inverse: "spouse")]),
        ])
    }

    @Test(arguments: TestStore.all, [TransferOptions.ExistingObjects.merge, .append])
    func aRejectedObjectOfTheTargetGetsThePartnerThatTheSourceSays(_ kind: TestStore, _ existing: TransferOptions.ExistingObjects) throws {
        let schema = try cars()
        // Car 1 is known and free, car 2 belongs to another person, and car 3 to nobody any more. The people are new.
        let target = try store(
            kind, schema,
            [
                ("Car", 1, [.int(4), .null]), ("Car", 2, [.int(5), .int(9)]), ("Car", 3, [.int(2), .null]),
                ("Person", 9, [.int(99), .int(2), .null]),
            ])
        defer { try? target.erase() }
        var rows: [Row] = [
            ("Car", 1, [.int(40), .int(1)]), ("Car", 2, [.int(50), .int(2)]), ("Car", 3, [.int(60), .null]),
            ("Person", 1, [.int(30), .int(1), .int(2)]), ("Person", 2, [.int(31), .int(2), .int(1)]),
        ]
        // The source knows person 9 too, as somebody that the target cannot have.
        rows.append(("Person", 9, [.int(999), .null, .null]))
        let source = try store(.memory, schema, rows)
        let report = try TransferEngine().transfer(from: source, to: target, options { $0.existing = existing })
        #expect(report.rejected.map { "\($0.entity) \($0.key)" } == ["Car 1", "Car 2", "Car 3", "Person 9"])
        #expect(report.removedReferences.isEmpty && report.isVerified)
        #expect(
            try contents(target) == [
                "Car 1: seats=4 owner=1", "Car 2: seats=5 owner=2", "Car 3: seats=2 owner=null", "Person 1: age=30 car=1 spouse=2",
                "Person 2: age=31 car=2 spouse=1", "Person 9: age=99 car=null spouse=null",
            ])
        #expect(try findings(target).isEmpty)
    }

    @Test(arguments: TestStore.all) func aPartnerThatTheSourceGivesToAnotherObjectIsTakenFromARejectedOne(_ kind: TestStore) throws {
        let schema = try cars()
        let target = try store(
            kind, schema,
            [
                ("Car", 1, [.int(4), .int(1)]), ("Person", 1, [.int(30), .int(1), .int(2)]), ("Person", 2, [.int(31), .null, .int(1)]),
                ("Person", 3, [.int(32), .null, .null]),
            ])
        defer { try? target.erase() }
        // The car has gone from person 1 to person 2, and person 2, which is rejected, is married to person 3.
        let source = try store(
            .memory, schema,
            [
                ("Car", 1, [.int(40), .int(3)]), ("Person", 1, [.int(30), .null, .null]), ("Person", 2, [.int(310), .null, .int(3)]),
                ("Person", 3, [.int(32), .int(1), .int(2)]),
            ])
        let report = try TransferEngine().transfer(from: source, to: target, options { $0.existing = .merge })
        #expect(report.rejected.map { "\($0.entity) \($0.key)" } == ["Car 1", "Person 2"])
        #expect(
            try contents(target) == [
                "Car 1: seats=4 owner=3", "Person 1: age=30 car=null spouse=null", "Person 2: age=31 car=null spouse=3",
                "Person 3: age=32 car=1 spouse=2",
            ])
        #expect(try findings(target).isEmpty)
    }

    @Test(arguments: TestStore.all) func aPartOfTheObjectsIsMergedWithItsPartners(_ kind: TestStore) throws {
        let schema = try cars(), target = try store(kind, schema, [("Car", 1, [.int(4), .null]), ("Car", 7, [.int(7), .null])])
        defer { try? target.erase() }
        let source = try store(
            .memory, schema, [("Car", 1, [.int(4), .int(1)]), ("Person", 1, [.int(30), .int(1), .null])])
        var merging = TransferOptions()
        merging.existing = .merge
        merging.selection.only = ["Person"]
        _ = try TransferEngine().transfer(from: source, to: target, merging)
        #expect(
            try contents(target) == ["Car 1: seats=4 owner=1", "Car 7: seats=7 owner=null", "Person 1: age=30 car=1 spouse=null"])
        #expect(try findings(target).isEmpty)
    }

    // MARK: Accepted losses

    @Test func aRejectedRowHasTheValuesThatWereToBeWritten() throws {
        let schema = try Schema(entities: [
            Entity(
                "Item",
                attributes: [
                    Attribute("price", .double), Attribute("size", .string, isOptional: true), Attribute("count", .string),
                    Attribute("rank", .int64, rules: AttributeRules(maximum: .int(10))),
                ])
        ])
        let mapping = TransferMapping(
            types: ["Item.price": .init(.int64), "Item.size": .init(.int64), "Item.count": .init(.int64)])
        let source = try store(
            .memory, schema,
            [
                ("Item", 1, [.double(1.75), .string("big"), .string("3"), .int(50)]),
                ("Item", 2, [.double(2.75), .string("4"), .string("many"), .int(5)]),
                ("Item", 3, [.double(3.75), .string("wide"), .string("6"), .int(6)]),
            ])
        let target = try OpenStore(opening: InMemoryStore(), OpenRequest(schema: try mapping.schema(for: schema))), records = Mutex("")
        let report = try TransferEngine().transfer(
            from: source, to: target,
            options {
                $0.mapping = mapping
                $0.acceptedLosses = ["Item.price", "Item.size"]
                $0.receiveRejects = { rejects throws(StorageError) in
                    try rejects.forEachRecord { _, record in records.withLock { $0 += "\(record)\n" } }
                }
            })
        #expect(report.rejected.map(\.property) == ["rank", "count"] && report.changedValues == ["Item.price": 1, "Item.size": 1])
        let text = records.withLock { $0 }
        #expect(text.contains(#""price":2,"size":null,"count":3,"rank":50"#), "\(text)")
        #expect(text.contains(#""price":3,"size":4,"count":"many","rank":5"#), "\(text)")
        // Only what was wrong has to be corrected.
        let mended = text.replacing("\"rank\":50", with: "\"rank\":5").replacing("\"many\"", with: "7")
        let load = try #require(try LoadMapping(objectsIn: FileBlocks(Data(mended.utf8)), "rejects.ndjson"))
        _ = try FileLoader.load(load, into: target) { _ in FileBlocks(Data(mended.utf8)) }
        #expect(
            try contents(target) == [
                "Item 1: price=2 size=null count=3 rank=5", "Item 2: price=3 size=4 count=7 rank=5",
                "Item 3: price=4 size=null count=6 rank=6",
            ])
    }

    // MARK: Interruptions

    private func notes() throws -> (Schema, OpenStore) {
        let schema = try Schema(entities: [
            Entity(
                "Note", attributes: [Attribute("rank", .int64, rules: AttributeRules(maximum: .int(20_000)))], indexes: [Index(["rank"])])
        ])
        // Every five-thousandth rank breaks the rule.
        let rows: [Row] = (1...30_000).map { ("Note", $0, [.int($0 % 5000 == 0 ? $0 + 20_000 : $0 % 7)]) }
        return (schema, try store(.memory, schema, rows))
    }

    @Test(arguments: TestStore.all) func anInterruptedTransferContinuesWithoutTheRowsThatAreLeftOut(_ kind: TestStore) throws {
        let (schema, source) = try notes(), limit = WorkLimit(), received = Mutex<[[Int64]]>([])
        let target = try OpenStore(opening: kind.make(), OpenRequest(schema: schema))
        let options = options {
            $0.source = "memory:notes"
            $0.step = .zero
            $0.receiveRejects = { rejects in received.withLock { $0.append(rejects.rows.map(\.key)) } }
        }
        let error = #expect(throws: StorageError.self) {
            try TransferEngine(limit: limit).transfer(from: source, to: target, options) { if $0.allDone > 12_000 { limit.cancel() } }
        }
        #expect(error?.code == .cancelled && received.withLock { $0.isEmpty })
        let report = try TransferEngine().transfer(from: source, to: target, options)
        #expect(report.continued > 12_000 && report.continued < 29_994)
        #expect(received.withLock { $0 } == [[5000, 10_000, 15_000, 20_000, 25_000, 30_000]])
        #expect(report.items.map(\.digest.count) == [29_994])
        let found = try contents(target)
        #expect(found.count == 29_994 && !found.contains { $0.hasPrefix("Note 5000:") })
        #expect(try findings(target).isEmpty)
    }
}
