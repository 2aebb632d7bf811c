internal import Foundation
internal import Polystore
internal import Synchronization

/// Steps that are taken while programs of both versions of the model run.
enum RollingCases {
    static let all: [ConformanceCase] = sides + relationships + phases

    static func rollingCase(
        _ id: String, _ body: @escaping @Sendable (StoreHarness, Check) throws -> Void
    ) -> ConformanceCase { ConformanceCase(id, clause: "group M", needs: [.rollingMigrations], body) }

    private static let before = [
        Attribute("name", .string), Attribute("count", .int32), Attribute("state", .string, isOptional: true),
        Attribute("mail", .string, defaultValue: .string("none")), Attribute("place", .string),
    ]
    /// A rename, a wider type, optional to required, one that goes, one that comes; and one of another name takes that of the first.
    private static let after = [
        Attribute("title", .string, originalName: "name"), Attribute("count", .int64),
        Attribute("state", .string, defaultValue: .string("new")), Attribute("rank", .int16, defaultValue: .int(7)),
        Attribute("name", .string, originalName: "place"),
    ]

    private static func row(_ name: String, _ count: Int64, _ state: String?) -> [String: Value] {
        ["name": .string(name), "count": .int(count), "state": state.map { .string($0) } ?? .null, "mail": .string("m"), "place": .string("p")]
    }

    // MARK: Both sides

    private static let sides: [ConformanceCase] = [
        rollingCase("M019.each-version-sees-what-the-other-writes") { harness, check in
            try RollingScene.run(harness, before, after, rows: [row("a", 1, nil), row("b", 2, "done")]) { scene in
                try scene.expand()
                check.throwing(.busy, "the newer version before it is filled") { _ = try Scratch(beside: scene.old, scene.after) }
                let third = try scene.old.insert("Note", [row("c", 3, nil)])[0]
                try scene.old.update("Note", 1, ["count": .int(10)])
                try scene.phases.backfill(BackfillPace(batchSize: 1))
                let next = try Scratch(beside: scene.old, scene.after)
                defer { try? next.store.close() }
                check.equal(try next.values("Note", "title"), [.string("a"), .string("b"), .string("c")], "renamed")
                check.equal(try next.values("Note", "name"), [.string("p"), .string("p"), .string("p")], "the name that is taken over")
                check.equal(try next.values("Note", "count"), [.int(10), .int(2), .int(3)], "wider")
                check.equal(try next.values("Note", "state"), [.string("new"), .string("done"), .string("new")], "required")
                check.equal(try next.values("Note", "rank"), [.int(7), .int(7), .int(7)], "new")
                check.equal(try scene.old.values("Note", "state"), [.null, .string("done"), .null], "what the older version has stays")

                // The newer version writes.
                let fourth = try next.insert(
                    "Note",
                    [["title": .string("d"), "count": .int(-5), "state": .string("x"), "rank": .int(1), "name": .string("q")]])[0]
                try next.update("Note", third, ["title": .string("cc"), "count": .int(33)])
                try next.update("Note", 1, ["state": .string("open"), "rank": .int(2)])
                check.equal(
                    try scene.old.fetch(FetchRequest("Note")).map(\.values),
                    [
                        ["name": .string("a"), "count": .int(10), "state": .string("open"), "mail": .string("m"), "place": .string("p")],
                        ["name": .string("b"), "count": .int(2), "state": .string("done"), "mail": .string("m"), "place": .string("p")],
                        ["name": .string("cc"), "count": .int(33), "state": .null, "mail": .string("m"), "place": .string("p")],
                        ["name": .string("d"), "count": .int(-5), "state": .string("x"), "mail": .string("none"), "place": .string("q")],
                    ], "as the older version sees it")

                // The older one writes again.
                try scene.old.update("Note", fourth, ["count": .int(44), "state": .null])
                try scene.old.delete("Note", [2])
                check.equal(try next.values("Note", "count"), [.int(10), .int(33), .int(44)], "wider, again")
                check.equal(try next.values("Note", "state").last, .string("new"), "nil of the older version")
                check.equal(try next.values("Note", "rank"), [.int(2), .int(7), .int(1)], "what only the newer version has stays")

                let contents = try next.fetch(FetchRequest("Note"))
                check.throwing(.dataLossRefused, "what goes has to be named") { try scene.phases.contract(timeout: 10) }
                try scene.phases.contract(acceptingLosses: ["Note.mail"], timeout: 10)
                check.equal(try next.fetch(FetchRequest("Note")), contents, "the program goes on over the end of the step")
                let fifth = try next.insert("Note", [["title": .string("e"), "count": .int(1 << 40), "state": .string("y"), "rank": .null]])
                check.equal(fifth.count, 1, "and writes")
                check.throwing(.schemaMismatch, "the older version reads") { _ = try scene.old.fetch(FetchRequest("Note")) }
                check.throwing(.schemaMismatch, "the older version writes") { try scene.old.update("Note", 1, ["count": .int(0)]) }
                check.throwing(.schemaMismatch, "the older version opens") { _ = try Scratch(beside: scene.old, scene.before) }
                let fresh = try Scratch(beside: scene.old, scene.after)
                defer { try? fresh.store.close() }
                check.equal(try fresh.fetch(FetchRequest("Note")), try next.fetch(FetchRequest("Note")), "opened again")
            }
        },
        rollingCase("M019.versions-of-objects-count-on-both-sides") { harness, check in
            try RollingScene.run(harness, before, after, rows: [row("a", 1, nil)]) { scene in
                let next = try scene.begin()
                defer { try? next.store.close() }
                check.equal(try next.fetch(FetchRequest("Note")).map(\.version), [1], "filling is no change")
                try scene.old.update("Note", 1, ["count": .int(2)])
                check.throwing(.staleObject, "changed by the older version") {
                    try next.write { try $0.apply(ChangeSet(entities: [try next.updates("Note", [(1, 1, ["rank": .int(3)])], checksVersion: true)])) }
                }
                try next.update("Note", 1, ["rank": .int(3)])
                check.throwing(.staleObject, "changed by the newer version") {
                    try scene.old.write {
                        try $0.apply(ChangeSet(entities: [try scene.old.updates("Note", [(1, 2, ["count": .int(3)])], checksVersion: true)]))
                    }
                }
                // Neither version gives a key of the other.
                var keys: [Int64] = []
                for _ in 0..<5 {
                    keys += try scene.old.insert("Note", [row("k", 1, nil)])
                    keys += try next.insert("Note", [["title": .string("k"), "count": .int(1), "state": .string("s"), "name": .string("q")]])
                }
                check.equal(Set(keys).count, 10, "keys")
            }
        },
        rollingCase("M019.many-rows-at-once") { harness, check in
            try RollingScene.run(harness, before, after, rows: []) { scene in
                let next = try scene.begin()
                defer { try? next.store.close() }
                try scene.old.insert("Note", (0..<300).map { row("old \($0)", $0, nil) })
                try next.insert(
                    "Note",
                    (0..<300).map { ["title": .string("new \($0)"), "count": .int($0), "state": .string("s"), "name": .string("q")] })
                check.equal(try next.values("Note", "count"), (0..<600).map { .int($0 % 300) }, "the newer version")
                check.equal(try scene.old.values("Note", "count"), (0..<600).map { .int($0 % 300) }, "the older version")
                check.equal(Set(try next.values("Note", "rank").prefix(300)), [.int(7)], "the default")
            }
        },
        rollingCase("M020.what-the-older-version-cannot-hold-is-refused-until-the-end") { harness, check in
            let old = [Attribute("a", .int16), Attribute("b", .float), Attribute("c", .int32), Attribute("d", .string)]
            let new = [Attribute("a", .int64), Attribute("b", .double), Attribute("c", .decimal), Attribute("d", .string, isOptional: true)]
            let rows: [[String: Value]] = [["a": .int(-32768), "b": .double(0.5), "c": .int(7), "d": .string("x")]]
            let beyond: [(String, Value)] = [
                ("a", .int(32768)), ("a", .int(-32769)), ("b", .double(0.1)), ("b", .double(1e300)), ("c", .decimal(Decimal(string: "1.5") ?? 0)),
                ("c", .decimal(2_147_483_648)), ("d", .null),
            ]
            try RollingScene.run(harness, old, new, rows: rows) { scene in
                let next = try scene.begin()
                defer { try? next.store.close() }
                let contents = try next.fetch(FetchRequest("Note"))
                for (name, value) in beyond {
                    check.throwing(.valueNotStorable, "\(name) = \(value)") {
                        do { try next.update("Note", 1, [name: value]) } catch let error as StorageError {
                            check.isTrue(error.message.contains("Note.\(name)"), "the message names the property: \(error.message)")
                            throw error
                        }
                    }
                }
                check.equal(try next.fetch(FetchRequest("Note")), contents, "nothing was written")
                try next.update("Note", 1, ["a": .int(32767), "b": .double(-2.25), "c": .decimal(-7), "d": .string("")])
                check.equal(try scene.old.values("Note", "a") + scene.old.values("Note", "b"), [.int(32767), .double(-2.25)], "what fits")
                try scene.phases.contract(timeout: 10)
                for (name, value) in beyond {
                    try next.update("Note", 1, [name: value])
                    check.equal(try next.values("Note", name), [value], "\(name) afterwards")
                }
            }
        },
        rollingCase("M020.constraints-bind-both-versions") { harness, check in
            let attributes = [Attribute("a", .int32), Attribute("b", .string, isOptional: true)]
            func schema(_ version: String, _ type: ValueType, _ indexes: [Index], _ unique: [UniqueConstraint]) throws -> Schema {
                var attributes = attributes
                attributes[0].type = type
                return try Schema(
                    version: version, entities: [Entity("Note", attributes: attributes, indexes: indexes, uniqueConstraints: unique)])
            }
            let before = try schema("V1", .int32, [Index(["a"])], [UniqueConstraint(["a"])])
            let after = try schema("V2", .int64, [Index(["b"], kind: .fullText)], [UniqueConstraint(["a"]), UniqueConstraint(["b"])])
            try RollingScene.run(
                harness, before, after,
                fill: { try $0.insert("Note", [["a": .int(1), "b": .string("one")], ["a": .int(2), "b": .string("one")], ["a": .int(3)]]) }
            ) { scene in
                try scene.expand()
                check.throwing(.uniqueConstraintViolated, "duplicates") {
                    do { try scene.phases.backfill() } catch let error as StorageError {
                        check.equal(error.details.keys.sorted(), [1, 2], "keys of duplicates")
                        throw error
                    }
                }
                check.throwing(.busy, "not filled") { try scene.phases.contract(timeout: 1) }
                try scene.old.update("Note", 2, ["b": .string("two")])
                try scene.phases.backfill()
                let next = try Scratch(beside: scene.old, after)
                defer { try? next.store.close() }
                for (what, scratch) in [("older", scene.old), ("newer", next)] {
                    for values: [String: Value] in [["a": .int(1)], ["a": .int(9), "b": .string("two")]] {
                        check.throwing(.uniqueConstraintViolated, "the \(what) version") { try scratch.insert("Note", [values]) }
                    }
                }
                check.equal(try next.keys(FetchRequest("Note", where: Predicate(parsing: "b SEARCH 'two'"))), [2], "the new index")
                try scene.phases.contract(timeout: 10)
                check.throwing(.uniqueConstraintViolated, "afterwards") {
                    do { try next.insert("Note", [["a": .int(3)]]) } catch let error as StorageError {
                        check.equal(error.details.constraint, "Note(a)", "the name of the constraint")
                        throw error
                    }
                }
                check.equal(try next.keys(FetchRequest("Note", where: Predicate(parsing: "b SEARCH 'two'"))), [2], "the index afterwards")
            }
        },
    ]

    // MARK: Relationships

    private static func shop(_ version: String, _ isNew: Bool) throws -> Schema {
        let owner = Relationship("owner", to: isNew ? "Human" : "Person", inverse: "pets")
        let person = Entity(
            isNew ? "Human" : "Person", attributes: [Attribute("name", .string)],
            relationships: [Relationship("pets", to: "Pet", .toMany, inverse: "owner")]
                + (isNew ? [Relationship("tags", to: "Tag", .toMany, inverse: "people")] : [Relationship("friends", to: "Person", .toMany)]),
            originalName: isNew ? "Person" : nil)
        let pet = Entity(
            "Pet", attributes: [Attribute("name", .string)],
            relationships: [owner, isNew ? Relationship("vet", to: "Human") : Relationship("breeder", to: "Person")])
        let tag = Entity(
            "Tag", attributes: [Attribute("text", .string)],
            relationships: [Relationship("people", to: "Human", .toMany, inverse: "tags")])
        let letter = Entity("Letter", relationships: [Relationship("from", to: "Person")])
        return try Schema(version: version, entities: isNew ? [person, pet, tag] : [person, pet, letter])
    }

    private static let relationships: [ConformanceCase] = [
        rollingCase("M021.relationships-entities-and-what-only-one-version-knows") { harness, check in
            let before = try shop("V1", false), after = try shop("V2", true)
            try RollingScene.run(
                harness, before, after,
                fill: { old in
                    try old.insert("Person", [["name": .string("Ann")], ["name": .string("Bob")], ["name": .string("Cid")]])
                    try old.insert("Pet", [["name": .string("Rex"), "owner": .int(1), "breeder": .int(2)]])
                    try old.insert("Letter", [["from": .int(2)]])
                    try old.connect("Person", "friends", [1: [2, 3], 2: [1]])
                }
            ) { scene in
                let next = try scene.begin()
                defer { try? next.store.close() }
                check.equal(try next.members("Human", "pets"), [1: [1]], "a relationship that stays")
                let tag = try next.insert("Tag", [["text": .string("nice")]])[0]
                try next.connect("Human", "tags", [1: [tag], 2: [tag]])
                try next.update("Pet", 1, ["vet": .int(3)])
                let pet = try next.insert("Pet", [["name": .string("Tom"), "owner": .int(3), "vet": .int(1)]])[0]
                check.equal(try scene.old.members("Person", "pets"), [1: [1], 3: [pet]], "as the older version sees it")
                check.equal(try scene.old.values("Pet", "breeder"), [.int(2), .null], "what only the older version has")

                // The newer version deletes what only the older one still refers to, and the other way round.
                try next.write { writer in
                    try writer.apply(
                        ChangeSet(
                            entities: [EntityChanges(entity: try next.entity("Human"), deletes: [RowDeletion(key: 2)])],
                            links: [LinkChanges(link: 0, removed: [Link(owner: 2, rank: 0, member: tag)])]))
                }
                check.equal(try scene.old.values("Pet", "breeder"), [.null, .null], "a reference to an object that is gone")
                check.equal(try scene.old.values("Letter", "from"), [.null], "one in an entity that the newer version has not")
                check.equal(try scene.old.members("Person", "friends"), [1: [3]], "pairs with it")
                try scene.old.update("Pet", pet, ["owner": .null])
                try scene.old.delete("Person", [3])
                check.equal(try next.values("Pet", "vet"), [.null, .int(1)], "a reference that only the newer version has")
                try scene.old.update("Pet", 1, ["owner": .null])
                try scene.old.write { writer in
                    try writer.apply(
                        ChangeSet(
                            entities: [EntityChanges(entity: try scene.old.entity("Person"), deletes: [RowDeletion(key: 1)])],
                            links: [LinkChanges(link: 0, removed: [Link(owner: 1, rank: 0, member: 3)])]))
                }
                check.equal(try next.members("Human", "tags"), [:], "pairs that only the newer version has")
                try Integrity.check(next.store, after, check)
                try Integrity.check(scene.old.store, before, check)

                try scene.phases.contract(acceptingLosses: ["Letter", "Person.friends", "Human.friends", "Pet.breeder"], timeout: 10)
                try Integrity.check(next.store, after, check)
                check.equal(try next.values("Tag", "text"), [.string("nice")], "a new entity")
                check.equal(try next.insert("Human", [["name": .string("Dan")]]).count, 1, "and all goes on")
            }
        },
        rollingCase("M021.hierarchies") { harness, check in
            func schema(_ version: String, dog: [Attribute], cat: [Attribute]) throws -> Schema {
                try Schema(
                    version: version,
                    entities: [
                        Entity("Animal", isAbstract: true, attributes: [Attribute("age", version == "V1" ? .int16 : .int32)]),
                        Entity("Dog", parent: "Animal", attributes: dog), Entity("Cat", parent: "Animal", attributes: cat),
                    ])
            }
            let before = try schema("V1", dog: [Attribute("bark", .string, isOptional: true)], cat: [Attribute("fur", .int16, defaultValue: .int(4))])
            let after = try schema(
                "V2", dog: [Attribute("bark", .string, defaultValue: .string("wow")), Attribute("legs", .int16, defaultValue: .int(4))], cat: [])
            try RollingScene.run(
                harness, before, after,
                fill: { old in
                    try old.insert("Dog", [["age": .int(1)], ["age": .int(2), "bark": .string("hm")]])
                    try old.insert("Cat", [["age": .int(3), "fur": .int(5)]])
                }
            ) { scene in
                let next = try scene.begin()
                defer { try? next.store.close() }
                check.equal(try next.values("Dog", "legs"), [.int(4), .int(4)], "of one entity of the hierarchy")
                check.equal(try next.values("Dog", "bark"), [.string("wow"), .string("hm")], "required")
                check.equal(try next.values("Animal", "age"), [.int(1), .int(2), .int(3)], "wider")
                try scene.old.insert("Dog", [["age": .int(4)]])
                try next.insert("Cat", [["age": .int(5)]])
                check.equal(try next.values("Dog", "legs"), [.int(4), .int(4), .int(4)], "of a new object of the older version")
                check.equal(try next.values("Dog", "bark").last, .string("wow"), "and what it leaves out")
                check.equal(try scene.old.values("Cat", "fur"), [.int(5), .int(4)], "of a new object of the newer version")
                try scene.phases.contract(acceptingLosses: ["Cat.fur"], timeout: 10)
                check.equal(try next.values("Animal", "age"), (1...5).map { .int($0) }, "afterwards")
            }
        },
        rollingCase("M022.the-history-is-read-in-the-terms-of-each-version") { harness, check in
            let before = try Schema(
                version: "V1", entities: [Entity("Zoo"), Entity("Note", attributes: [Attribute("a", .int64), Attribute("b", .int64)])])
            let after = try Schema(
                version: "V2",
                entities: [
                    Entity("Alpha", attributes: [Attribute("x", .int64)]),
                    Entity("Note", attributes: [Attribute("c", .int64, defaultValue: .int(0)), Attribute("b", .int64), Attribute("a", .int64)]),
                    Entity("Zoo"),
                ])
            func told(_ scratch: Scratch, since token: HistoryToken?) throws -> [[String]] {
                try scratch.history(since: token).map { entry in
                    entry.changes.map { change in
                        let entity = scratch.schema[change.entity]
                        switch change.kind {
                        case .insert: return "+\(entity.name) \(change.key)"
                        case .delete: return "-\(entity.name) \(change.key)"
                        case .update(let mask): return "\(entity.name) \(change.key) \(mask.slots.map { entity.slots[$0].name })"
                        case .links: return "links"
                        }
                    }
                }
            }
            try RollingScene.run(harness, before, after, fill: { try $0.insert("Note", [["a": .int(1), "b": .int(1)]]) }) { scene in
                try scene.expand()
                try scene.old.update("Note", 1, ["b": .int(2)])
                try scene.phases.backfill()
                let next = try Scratch(beside: scene.old, after)
                defer { try? next.store.close() }
                try next.update("Note", 1, ["a": .int(3), "c": .int(3)])
                try next.insert("Alpha", [["x": .int(1)]])
                try scene.old.insert("Zoo", [[:]])
                let token = try next.token()
                try next.update("Note", 1, ["c": .int(4)])
                try scene.old.delete("Note", [1])
                let older = [["+Note 1"], [#"Note 1 ["b"]"#], [#"Note 1 ["a"]"#], [], ["+Zoo 1"], ["Note 1 []"], ["-Note 1"]]
                let newer = [
                    ["+Note 1"], [#"Note 1 ["b"]"#], [#"Note 1 ["c", "a"]"#], ["+Alpha 1"], ["+Zoo 1"], [#"Note 1 ["c"]"#], ["-Note 1"],
                ]
                _ = try next.token()
                _ = try scene.old.token()
                check.equal(try told(scene.old, since: nil), older, "the older version")
                check.equal(try told(next, since: nil), newer, "the newer version")
                try scene.phases.contract(timeout: 10)
                check.equal(try told(next, since: nil), newer, "afterwards")
                check.equal(try told(next, since: token), Array(newer.suffix(2)), "since a token from before the end")
                let key = try next.insert("Alpha", [["x": .int(2)]])[0]
                check.equal(try told(next, since: token).last, ["+Alpha \(key)"], "and it goes on")
            }
        },
    ]

    // MARK: Phases

    private static let phases: [ConformanceCase] = [
        rollingCase("M023.filling-goes-on-where-it-stopped") { harness, check in
            try RollingScene.run(harness, before, after, rows: (0..<20).map { row("\($0)", $0, nil) }) { scene in
                try scene.expand()
                let progress = MigrationProgress()
                progress.cancel()
                check.throwing(.cancelled, "stopped") { try scene.phases.backfill(BackfillPace(batchSize: 5), progress: progress) }
                check.equal(try scene.phases.current()?.phase, .filling, "the phase")
                let second = MigrationProgress()
                try scene.phases.backfill(BackfillPace(batchSize: 5), progress: second)
                check.equal(second.current.completedObjects, 15, "what was left to fill")
                check.equal(try scene.phases.current()?.phase, .ready, "the phase when it is filled")
                let next = try Scratch(beside: scene.old, scene.after)
                defer { try? next.store.close() }
                check.equal(try next.values("Note", "count"), (0..<20).map { .int($0) }, "values")
                try scene.phases.backfill()
            }
        },
        rollingCase("M023.programs-go-on-through-all-phases") { harness, check in
            let attributes = [Attribute("a", .int32), Attribute("b", .string, isOptional: true)]
            let wide = [Attribute("a", .int64), Attribute("b", .string, defaultValue: .string("-"))]
            try RollingScene.run(harness, attributes, wide, rows: (0..<200).map { ["a": .int($0)] }) { scene in
                let failures = Mutex<[String]>([]), written = Mutex(0), isDone = Mutex(false), isRefused = Mutex(false)
                @Sendable func work(_ scratch: Scratch, _ values: [String: Value]) throws {
                    do {
                        let key = try scratch.insert("Note", [values])[0]
                        written.withLock { $0 += 1 }
                        try scratch.update("Note", key % 200 + 1, ["a": .int(key)])
                        _ = try scratch.fetch(FetchRequest("Note", where: Predicate(parsing: "a < 10")))
                    } catch let error as StorageError where error.code == .serializationFailure {}
                }
                let (old, after) = (Held(scene.old), scene.after)
                let phases = Held(scene.phases)
                Threads.run(3) { number in
                    do {
                        switch number {
                        case 0:
                            while !isDone.withLock({ $0 }) { try work(old.value, ["a": .int(1)]) }
                        case 1:
                            Thread.sleep(forTimeInterval: 0.05)
                            try phases.value.expand(
                                to: SchemaHistory(schemas: [old.value.schema, after]), timeout: 20)
                            try phases.value.backfill(BackfillPace(batchSize: 20, pause: 0.005))
                            Thread.sleep(forTimeInterval: 0.3)
                            try phases.value.contract(timeout: 20)
                            Thread.sleep(forTimeInterval: 0.2)
                            isDone.withLock { $0 = true }
                        default:
                            var next: Scratch?
                            while next == nil, !isDone.withLock({ $0 }) {
                                next = try? Scratch(beside: old.value, after)
                                Thread.sleep(forTimeInterval: 0.01)
                            }
                            while !isDone.withLock({ $0 }), let next { try work(next, ["a": .int(1), "b": .string("n")]) }
                            try next?.store.close()
                        }
                    } catch let error as StorageError where error.code == .schemaMismatch && number == 0 {
                        isRefused.withLock { $0 = true }
                    } catch {
                        failures.withLock { $0.append("\(number): \(error)") }
                        isDone.withLock { $0 = true }
                    }
                }
                check.equal(failures.withLock { $0 }, [], "failures")
                check.isTrue(isRefused.withLock { $0 }, "the older version is refused at last")
                let next = try Scratch(beside: scene.old, scene.after)
                defer { try? next.store.close() }
                check.equal(try next.fetch(FetchRequest("Note")).count, 200 + written.withLock { $0 }, "objects")
                check.isTrue(try !next.values("Note", "b").contains(.null), "none is without a value")
            }
        },
        rollingCase("M024.abandoned-and-begun-anew") { harness, check in
            try RollingScene.run(harness, before, after, rows: [row("a", 1, nil), row("b", 2, "x")]) { scene in
                let contents = try scene.old.fetch(FetchRequest("Note"))
                let next = try scene.begin()
                defer { try? next.store.close() }
                try scene.phases.abandon(timeout: 10)
                check.throwing(.schemaMismatch, "the newer version") { _ = try next.fetch(FetchRequest("Note")) }
                check.equal(try scene.old.fetch(FetchRequest("Note")), contents, "the older version as it was")
                check.equal(try scene.phases.current() == nil, true, "no step is under way")
                check.throwing(.notFound, "nothing to end") { try scene.phases.abandon(timeout: 1) }

                let again = try scene.begin()
                defer { try? again.store.close() }
                try again.update("Note", 1, ["rank": .int(9)])
                check.throwing(.dataLossRefused, "what only the newer version has") {
                    do { try scene.phases.abandon(timeout: 10) } catch let error as StorageError {
                        check.isTrue(error.message.contains("Note.rank"), error.message)
                        throw error
                    }
                }
                check.equal(try again.values("Note", "rank"), [.int(9), .int(7)], "nothing happened")
                try scene.phases.abandon(acceptingLosses: true, timeout: 10)
                let third = try scene.begin()
                defer { try? third.store.close() }
                check.equal(try third.values("Note", "rank"), [.int(7), .int(7)], "begun a third time")
                try scene.phases.contract(acceptingLosses: ["Note.mail"], timeout: 10)
                check.equal(try third.values("Note", "title"), [.string("a"), .string("b")], "and ended")
            }
        },
        rollingCase("M024.one-step-at-a-time") { harness, check in
            try RollingScene.run(harness, before, after, rows: [row("a", 1, nil)]) { scene in
                check.throwing(.notFound, "backfill before expand") { try scene.phases.backfill() }
                check.throwing(.notFound, "contract before expand") { try scene.phases.contract(timeout: 1) }
                try scene.expand()
                check.throwing(.busy, "a second one") { try scene.expand() }
                check.throwing(.busy, "an ordinary migration") {
                    var other = MigrationScene(scene.before, scene.after)
                    other.losses = ["Note.mail"]
                    try other.migrate(scene.old)
                }
                try scene.phases.backfill()
                try scene.phases.contract(acceptingLosses: ["Note.mail"], timeout: 10)
                // And after it an ordinary one.
                let next = try Scratch(beside: scene.old, scene.after)
                defer { try? next.store.close() }
                let third = try Schema(version: "V3", entities: [Entity("Note", attributes: after + [Attribute("z", .bool, isOptional: true)])])
                try MigrationScene(scene.after, third).migrate(next)
                let migrated = Scratch(migrated: next, to: third)
                check.equal(try migrated.values("Note", "title"), [.string("a")], "values")
                check.equal(try migrated.history().count, 1, "history")
            }
        },
    ]
}

/// Something that a case hands to threads, which use it at the same time as the contract allows for stores.
///
/// Unchecked: a scratch only keeps the newest token of its own, which no thread of these cases reads.
private struct Held<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}
