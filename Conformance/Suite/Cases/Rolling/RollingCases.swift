internal import Foundation
internal import Polystore

/// Cases about migration steps while programs of both versions of the model run.
enum RollingCases {
    static func rollingCase(
        _ id: String, _ clause: String, _ body: @escaping @Sendable (StoreHarness, Check) throws -> Void
    ) -> ConformanceCase { ConformanceCase(id, clause: clause, needs: [.rollingMigrations], body) }

    static let before = [
        Attribute("name", .string), Attribute("count", .int32), Attribute("state", .string, isOptional: true),
        Attribute("mail", .string, defaultValue: .string("none")), Attribute("place", .string),
    ]
    /// The attributes of the newer version: a renamed one, one with a wider type, an optional one that becomes required, and an added one;
    /// one is removed, and one takes over the name of the first.
    static let after = [
        Attribute("title", .string, originalName: "name"), Attribute("count", .int64),
        Attribute("state", .string, defaultValue: .string("new")), Attribute("rank", .int16, defaultValue: .int(7)),
        Attribute("name", .string, originalName: "place"),
    ]

    static func row(_ name: String, _ count: Int64, _ state: String?) -> [String: Value] {
        [
            "name": .string(name), "count": .int(count), "state": state.map { .string($0) } ?? .null, "mail": .string("m"),
            "place": .string("p"),
        ]
    }

    static let all: [ConformanceCase] = [
        rollingCase("M021.each-version-sees-what-the-other-writes", "M12") { harness, check in
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
                check.equal(
                    try scene.old.values("Note", "state"), [.null, .string("done"), .null], "values of the older version are unchanged")

                // The newer version writes.
                let fourth = try next.insert(
                    "Note",
                    [["title": .string("d"), "count": .int(-5), "state": .string("x"), "rank": .int(1), "name": .string("q")]])[0]
                try next.update("Note", third, ["title": .string("cc"), "count": .int(33)])
                try next.update("Note", 1, ["state": .string("open"), "rank": .int(2)])
                check.equal(
                    try scene.old.fetch(ObjectRequest("Note")).map(\.values),
                    [
                        ["name": .string("a"), "count": .int(10), "state": .string("open"), "mail": .string("m"), "place": .string("p")],
                        ["name": .string("b"), "count": .int(2), "state": .string("done"), "mail": .string("m"), "place": .string("p")],
                        ["name": .string("cc"), "count": .int(33), "state": .null, "mail": .string("m"), "place": .string("p")],
                        ["name": .string("d"), "count": .int(-5), "state": .string("x"), "mail": .string("none"), "place": .string("q")],
                    ], "as the older version sees it")

                // The older version writes again.
                try scene.old.update("Note", fourth, ["count": .int(44), "state": .null])
                try scene.old.delete("Note", [2])
                check.equal(try next.values("Note", "count"), [.int(10), .int(33), .int(44)], "wider, again")
                check.equal(try next.values("Note", "state").last, .string("new"), "nil of the older version")
                check.equal(
                    try next.values("Note", "rank"), [.int(2), .int(7), .int(1)], "values of the newer version alone are unchanged")

                let contents = try next.fetch(ObjectRequest("Note"))
                check.throwing(.dataLossRefused, "losses must be accepted") { try scene.phases.contract(timeout: 10) }
                try scene.phases.contract(acceptingLosses: ["Note.mail"], timeout: 10)
                check.equal(try next.fetch(ObjectRequest("Note")), contents, "the program continues after the end of the step")
                let fifth = try next.insert(
                    "Note", [["title": .string("e"), "count": .int(1 << 40), "state": .string("y"), "rank": .null]])
                check.equal(fifth.count, 1, "and writes")
                check.throwing(.schemaMismatch, "the older version reads") { _ = try scene.old.fetch(ObjectRequest("Note")) }
                check.throwing(.schemaMismatch, "the older version writes") { try scene.old.update("Note", 1, ["count": .int(0)]) }
                check.throwing(.schemaMismatch, "the older version opens") { _ = try Scratch(beside: scene.old, scene.before) }
                let fresh = try Scratch(beside: scene.old, scene.after)
                defer { try? fresh.store.close() }
                check.equal(try fresh.fetch(ObjectRequest("Note")), try next.fetch(ObjectRequest("Note")), "opened again")
            }
        },
        rollingCase("M021.versions-of-objects-count-on-both-sides", "M12") { harness, check in
            try RollingScene.run(harness, before, after, rows: [row("a", 1, nil)]) { scene in
                let next = try scene.begin()
                defer { try? next.store.close() }
                check.equal(try next.fetch(ObjectRequest("Note")).map(\.version), [1], "filling is no change")
                try scene.old.update("Note", 1, ["count": .int(2)])
                check.throwing(.staleObject, "changed by the older version") {
                    try next.write {
                        try $0.apply(ChangeSet(entities: [try next.updates("Note", [(1, 1, ["rank": .int(3)])], checksVersion: true)]))
                    }
                }
                try next.update("Note", 1, ["rank": .int(3)])
                check.throwing(.staleObject, "changed by the newer version") {
                    try scene.old.write {
                        try $0.apply(
                            ChangeSet(entities: [try scene.old.updates("Note", [(1, 2, ["count": .int(3)])], checksVersion: true)]))
                    }
                }
                // The versions never assign the same key.
                var keys: [Int64] = []
                for _ in 0..<5 {
                    keys += try scene.old.insert("Note", [row("k", 1, nil)])
                    keys += try next.insert(
                        "Note", [["title": .string("k"), "count": .int(1), "state": .string("s"), "name": .string("q")]])
                }
                check.equal(Set(keys).count, 10, "keys")
            }
        },
        rollingCase("M021.many-rows-at-once", "M12") { harness, check in
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
        rollingCase("M022.what-the-older-version-cannot-hold-is-refused-until-the-end", "M13") { harness, check in
            let old = [Attribute("a", .int16), Attribute("b", .float), Attribute("c", .int32), Attribute("d", .string)]
            let new = [
                Attribute("a", .int64), Attribute("b", .double), Attribute("c", .decimal), Attribute("d", .string, isOptional: true),
            ]
            let rows: [[String: Value]] = [["a": .int(-32768), "b": .double(0.5), "c": .int(7), "d": .string("x")]]
            let beyond: [(String, Value)] = [
                ("a", .int(32768)), ("a", .int(-32769)), ("b", .double(0.1)), ("b", .double(1e300)),
                ("c", .decimal(Decimal(string: "1.5") ?? 0)),
                ("c", .decimal(2_147_483_648)), ("d", .null),
            ]
            try RollingScene.run(harness, old, new, rows: rows) { scene in
                let next = try scene.begin()
                defer { try? next.store.close() }
                let contents = try next.fetch(ObjectRequest("Note"))
                for (name, value) in beyond {
                    check.throwing(.valueNotStorable, "\(name) = \(value)") {
                        do { try next.update("Note", 1, [name: value]) } catch let error as StorageError {
                            check.isTrue(error.message.contains("Note.\(name)"), "the message names the property: \(error.message)")
                            throw error
                        }
                    }
                }
                check.equal(try next.fetch(ObjectRequest("Note")), contents, "nothing was written")
                try next.update("Note", 1, ["a": .int(32767), "b": .double(-2.25), "c": .decimal(-7), "d": .string("")])
                check.equal(
                    try scene.old.values("Note", "a") + scene.old.values("Note", "b"), [.int(32767), .double(-2.25)],
                    "values that the older version can store")
                try scene.phases.contract(timeout: 10)
                for (name, value) in beyond {
                    try next.update("Note", 1, [name: value])
                    check.equal(try next.values("Note", name), [value], "\(name) afterwards")
                }
            }
        },
        rollingCase("M022.constraints-bind-both-versions", "M13") { harness, check in
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
                fill: {
                    try $0.insert("Note", [["a": .int(1), "b": .string("one")], ["a": .int(2), "b": .string("one")], ["a": .int(3)]])
                }
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
                check.equal(try next.keys(ObjectRequest("Note", where: QueryPredicate(parsing: "b SEARCH 'two'"))), [2], "the new index")
                try scene.phases.contract(timeout: 10)
                check.throwing(.uniqueConstraintViolated, "afterwards") {
                    do { try next.insert("Note", [["a": .int(3)]]) } catch let error as StorageError {
                        check.equal(error.details.constraint, "Note(a)", "the name of the constraint")
                        throw error
                    }
                }
                check.equal(
                    try next.keys(ObjectRequest("Note", where: QueryPredicate(parsing: "b SEARCH 'two'"))), [2], "the index afterwards")
            }
        },
    ]
}
