internal import Polystore

/// Cases in which relationships are added, removed, or change their kind, with the effects on their pairs.
enum RelationshipMigrations {
    static let all: [ConformanceCase] = coming + kinds + names + inverses + rules

    /// Returns a version of a schema with two entities A and B, and some relationships of each.
    private static func schema(_ version: String, _ a: [Relationship] = [], _ b: [Relationship] = []) throws -> Schema {
        func entity(_ name: String, _ relationships: [Relationship]) -> Entity {
            Entity(name, attributes: [Attribute("name", .string, isOptional: true)], relationships: relationships)
        }
        return try Schema(version: version, entities: [entity("A", a), entity("B", b)])
    }

    /// Creates three objects of each entity, with the keys 1 to 3.
    private static func fill(_ scratch: Scratch) throws {
        for name in ["A", "B"] { try scratch.insert(name, (1...3).map { ["name": .string("\(name)\($0)")] }) }
    }

    private static func migrationCase(
        _ id: String, _ body: @escaping @Sendable (StoreHarness, Check) throws -> Void
    ) -> ConformanceCase { ConformanceCase(id, clause: "M3", needs: [.migrations], body) }

    /// Returns a case in which the pairs of a relationship become those of another.
    private static func pairs(
        _ id: String, _ before: ([Relationship], [Relationship]), _ after: ([Relationship], [Relationship]), losses: Set<String> = [],
        fill pairs: (String, String, [Int64: [Int64]]), expect: [(String, String, [Int64: [Int64]])]
    ) -> ConformanceCase {
        migrationCase(id) { harness, check in
            var scene = MigrationScene(try schema("V1", before.0, before.1), try schema("V2", after.0, after.1))
            scene.losses = losses
            try scene.run(
                harness,
                fill: { scratch in
                    try fill(scratch)
                    try scratch.connect(pairs.0, pairs.1, pairs.2)
                }
            ) { scratch in
                for (entity, relationship, members) in expect {
                    check.equal(try scratch.members(entity, relationship), members, "\(entity).\(relationship)")
                }
                check.equal(
                    try scratch.fetch(ObjectRequest("A")).map { $0.values["name"] }, ["A1", "A2", "A3"].map { .string($0) }, "objects")
            }
        }
    }

    private static let coming: [ConformanceCase] = [
        pairs(
            "M006.new-relationships-lead-nowhere",
            ([Relationship("b", to: "B", inverse: "as")], [Relationship("as", to: "A", .toMany, inverse: "b")]),
            (
                [
                    Relationship("b", to: "B", inverse: "as"), Relationship("c", to: "B"), Relationship("friends", to: "A", .toMany),
                    Relationship("list", to: "B", .toManyOrdered, inverse: "lists"),
                ], [Relationship("as", to: "A", .toMany, inverse: "b"), Relationship("lists", to: "A", .toMany, inverse: "list")]
            ),
            fill: ("A", "b", [1: [2], 3: [2]]),
            expect: [
                ("A", "b", [1: [2], 3: [2]]), ("B", "as", [2: [1, 3]]), ("A", "c", [:]), ("A", "friends", [:]), ("A", "list", [:]),
                ("B", "lists", [:]),
            ]),
        migrationCase("M006.a-relationship-goes-when-it-is-named") { harness, check in
            let kinds: [([Relationship], [Relationship], Set<String>)] = [
                ([Relationship("b", to: "B")], [], ["A.b"]), ([Relationship("b", to: "B", .toMany)], [], ["A.b"]),
                ([Relationship("b", to: "B", inverse: "a")], [Relationship("a", to: "A", inverse: "b")], ["A.b", "B.a"]),
                ([Relationship("b", to: "B", .toMany, inverse: "a")], [Relationship("a", to: "A", .toMany, inverse: "b")], ["A.b", "B.a"]),
            ]
            for (a, b, losses) in kinds {
                func full(_ scratch: Scratch) throws {
                    try fill(scratch)
                    try scratch.connect("A", "b", [1: [2]])
                    if b.first?.cardinality == .toOne { try scratch.connect("B", "a", [2: [1]]) }
                }
                var scene = MigrationScene(try schema("V1", a, b), try schema("V2"))
                try scene.refuse(harness, check, .dataLossRefused, "\(a) unnamed", fill: full)
                scene.losses = losses
                try scene.run(harness, fill: full) { scratch in
                    check.equal(try scratch.fetch(ObjectRequest("A")).map(\.key), [1, 2, 3], "objects without \(a)")
                }
            }
        },
    ]

    private static let kinds: [ConformanceCase] = [
        pairs(
            "M006.to-one-becomes-to-many", ([Relationship("b", to: "B")], []), ([Relationship("b", to: "B", .toMany)], []),
            fill: ("A", "b", [1: [2], 3: [2]]), expect: [("A", "b", [1: [2], 3: [2]])]),
        pairs(
            "M006.to-one-becomes-many-to-many",
            ([Relationship("b", to: "B", inverse: "as")], [Relationship("as", to: "A", .toMany, inverse: "b")]),
            ([Relationship("b", to: "B", .toMany, inverse: "as")], [Relationship("as", to: "A", .toMany, inverse: "b")]),
            fill: ("A", "b", [1: [2], 3: [2]]), expect: [("A", "b", [1: [2], 3: [2]]), ("B", "as", [2: [1, 3]])]),
        pairs(
            "M006.one-to-one-becomes-one-to-many", ([Relationship("b", to: "B", inverse: "a")], [Relationship("a", to: "A", inverse: "b")]),
            ([Relationship("bs", to: "B", .toMany, inverse: "a", originalName: "b")], [Relationship("a", to: "A", inverse: "bs")]),
            fill: ("B", "a", [1: [2], 3: [1]]), expect: [("A", "bs", [2: [1], 1: [3]]), ("B", "a", [1: [2], 3: [1]])]),
        pairs(
            "M006.to-many-becomes-ordered", ([Relationship("b", to: "B", .toMany)], []), ([Relationship("b", to: "B", .toManyOrdered)], []),
            fill: ("A", "b", [1: [3, 1], 2: [2]]), expect: [("A", "b", [1: [1, 3], 2: [2]])]),
        pairs(
            "M006.to-many-with-to-one-inverse-becomes-ordered",
            ([Relationship("b", to: "B", .toMany, inverse: "a")], [Relationship("a", to: "A", inverse: "b")]),
            ([Relationship("b", to: "B", .toManyOrdered, inverse: "a")], [Relationship("a", to: "A", inverse: "b")]),
            fill: ("A", "b", [2: [3, 1], 1: [2]]), expect: [("A", "b", [2: [1, 3], 1: [2]]), ("B", "a", [1: [2], 3: [2], 2: [1]])]),
        pairs(
            "M006.one-side-of-many-to-many-becomes-ordered",
            ([Relationship("b", to: "B", .toMany, inverse: "a")], [Relationship("a", to: "A", .toMany, inverse: "b")]),
            ([Relationship("b", to: "B", .toMany, inverse: "a")], [Relationship("a", to: "A", .toManyOrdered, inverse: "b")]),
            fill: ("A", "b", [1: [1, 2], 2: [1, 3]]),
            expect: [("A", "b", [1: [1, 2], 2: [1, 3]]), ("B", "a", [1: [1, 2], 2: [1], 3: [2]])]),
        pairs(
            "M006.ordered-stays-ordered-under-a-new-name",
            ([Relationship("b", to: "B", .toManyOrdered, inverse: "a")], [Relationship("a", to: "A", inverse: "b")]),
            (
                [Relationship("c", to: "B", .toManyOrdered, inverse: "d", originalName: "b")],
                [Relationship("d", to: "A", inverse: "c", originalName: "a")]
            ),
            fill: ("A", "b", [1: [3, 1, 2]]), expect: [("A", "c", [1: [3, 1, 2]]), ("B", "d", [1: [1], 2: [1], 3: [1]])]),
        migrationCase("M006.an-order-goes-when-it-is-named") { harness, check in
            for inverse in [nil, "a"] as [String?] {
                let back = inverse.map { [Relationship($0, to: "A", inverse: "b")] } ?? []
                var scene = MigrationScene(
                    try schema("V1", [Relationship("b", to: "B", .toManyOrdered, inverse: inverse)], back),
                    try schema("V2", [Relationship("b", to: "B", .toMany, inverse: inverse)], back))
                func full(_ scratch: Scratch) throws {
                    try fill(scratch)
                    try scratch.connect("A", "b", [1: [3, 1]])
                }
                try scene.refuse(harness, check, .dataLossRefused, "an order", fill: full)
                scene.losses = ["A.b"]
                try scene.run(harness, fill: full) { check.equal(try $0.members("A", "b"), [1: [1, 3]], "members") }
            }
        },
        migrationCase("M006.to-many-does-not-become-to-one-by-itself") { harness, check in
            let scene = MigrationScene(
                try schema("V1", [Relationship("b", to: "B", .toMany)]), try schema("V2", [Relationship("b", to: "B")]))
            try scene.refuse(harness, check, .noMigrationPath, "to-many to to-one") { scratch in
                try fill(scratch)
                try scratch.connect("A", "b", [1: [1, 2]])
            }
        },
    ]

    private static let names: [ConformanceCase] = [
        pairs(
            "M006.relationships-are-renamed-also-for-each-other",
            ([Relationship("b", to: "B"), Relationship("c", to: "B", .toMany), Relationship("d", to: "B", .toMany)], []),
            (
                [
                    Relationship("x", to: "B", originalName: "b"), Relationship("d", to: "B", .toMany, originalName: "c"),
                    Relationship("c", to: "B", .toMany, originalName: "d"),
                ], []
            ),
            fill: ("A", "c", [1: [2, 3]]), expect: [("A", "x", [:]), ("A", "d", [1: [2, 3]]), ("A", "c", [:])]),
        pairs(
            "M006.both-sides-of-many-to-many-are-renamed",
            ([Relationship("b", to: "B", .toMany, inverse: "a")], [Relationship("a", to: "A", .toMany, inverse: "b")]),
            (
                [Relationship("z", to: "B", .toMany, inverse: "y", originalName: "b")],
                [Relationship("y", to: "A", .toMany, inverse: "z", originalName: "a")]
            ),
            fill: ("A", "b", [1: [2, 3], 3: [3]]), expect: [("A", "z", [1: [2, 3], 3: [3]]), ("B", "y", [2: [1], 3: [1, 3]])]),
        migrationCase("M006.many-to-many-stays-while-an-entity-is-renamed") { harness, check in
            // The table of pairs belongs to the entity whose name sorts first, so that renaming the entity changes the owner of the pairs.
            for (name, other) in [("C", "B"), ("A", "A0")] {
                let scene = MigrationScene(
                    try schema(
                        "V1", [Relationship("b", to: "B", .toMany, inverse: "a")], [Relationship("a", to: "A", .toMany, inverse: "b")]),
                    try Schema(
                        version: "V2",
                        entities: [
                            Entity(
                                name, attributes: [Attribute("name", .string, isOptional: true)],
                                relationships: [Relationship("b", to: other, .toMany, inverse: "a")], originalName: "A"),
                            Entity(
                                other, attributes: [Attribute("name", .string, isOptional: true)],
                                relationships: [Relationship("a", to: name, .toMany, inverse: "b")], originalName: "B"),
                        ]))
                try scene.run(
                    harness,
                    fill: { scratch in
                        try fill(scratch)
                        try scratch.connect("A", "b", [1: [2, 3], 3: [3]])
                    }
                ) { scratch in
                    check.equal(try scratch.members(name, "b"), [1: [2, 3], 3: [3]], "\(name).b")
                    check.equal(try scratch.members(other, "a"), [2: [1], 3: [1, 3]], "\(other).a")
                }
            }
        },
    ]

    private static let inverses: [ConformanceCase] = [
        pairs(
            "M006.a-to-many-inverse-comes-with-what-leads-there", ([Relationship("b", to: "B")], []),
            ([Relationship("b", to: "B", inverse: "as")], [Relationship("as", to: "A", .toMany, inverse: "b")]),
            fill: ("A", "b", [1: [2], 3: [2]]), expect: [("B", "as", [2: [1, 3]]), ("A", "b", [1: [2], 3: [2]])]),
        pairs(
            "M006.an-ordered-inverse-comes-with-what-leads-there", ([Relationship("b", to: "B")], []),
            ([Relationship("b", to: "B", inverse: "as")], [Relationship("as", to: "A", .toManyOrdered, inverse: "b")]),
            fill: ("A", "b", [1: [2], 3: [2]]), expect: [("B", "as", [2: [1, 3]]), ("A", "b", [1: [2], 3: [2]])]),
        pairs(
            "M006.a-to-one-inverse-of-a-to-one-comes-with-what-leads-there", ([Relationship("b", to: "B")], []),
            ([Relationship("b", to: "B", inverse: "a")], [Relationship("a", to: "A", inverse: "b")]),
            fill: ("A", "b", [1: [2], 3: [1]]), expect: [("A", "b", [1: [2], 3: [1]]), ("B", "a", [2: [1], 1: [3]])]),
        pairs(
            "M006.a-to-one-inverse-of-a-to-many-comes-with-what-leads-there", ([Relationship("b", to: "B", .toMany)], []),
            ([Relationship("b", to: "B", .toMany, inverse: "a")], [Relationship("a", to: "A", inverse: "b")]),
            fill: ("A", "b", [1: [2, 3], 3: [1]]), expect: [("A", "b", [1: [2, 3], 3: [1]]), ("B", "a", [2: [1], 3: [1], 1: [3]])]),
        pairs(
            "M006.a-to-one-inverse-of-an-ordered-one-comes-with-what-leads-there", ([Relationship("b", to: "B", .toManyOrdered)], []),
            ([Relationship("b", to: "B", .toManyOrdered, inverse: "a")], [Relationship("a", to: "A", inverse: "b")]),
            fill: ("A", "b", [1: [3, 2], 3: [1]]), expect: [("A", "b", [1: [3, 2], 3: [1]]), ("B", "a", [2: [1], 3: [1], 1: [3]])]),
        pairs(
            "M006.a-many-to-many-inverse-comes-with-what-leads-there", ([Relationship("b", to: "B", .toMany)], []),
            ([Relationship("b", to: "B", .toMany, inverse: "a")], [Relationship("a", to: "A", .toMany, inverse: "b")]),
            fill: ("A", "b", [1: [2, 3], 3: [3]]), expect: [("A", "b", [1: [2, 3], 3: [3]]), ("B", "a", [2: [1], 3: [1, 3]])]),
        migrationCase("M006.a-to-one-inverse-is-refused-where-several-lead-there") { harness, check in
            for cardinality in [Cardinality.toOne, .toMany] {
                let scene = MigrationScene(
                    try schema("V1", [Relationship("b", to: "B", cardinality)]),
                    try schema(
                        "V2", [Relationship("b", to: "B", cardinality, inverse: "a")], [Relationship("a", to: "A", inverse: "b")]))
                try scene.refuse(harness, check, .validationFailed, "two refer to one, \(cardinality)", keys: [2]) { scratch in
                    try fill(scratch)
                    try scratch.connect("A", "b", [1: [2], 3: [2]])
                }
            }
        },
        pairs(
            "M006.a-to-many-stays-without-its-inverse",
            ([Relationship("b", to: "B", .toMany, inverse: "a")], [Relationship("a", to: "A", inverse: "b")]),
            ([Relationship("b", to: "B", .toMany)], []),
            fill: ("A", "b", [1: [2, 3], 3: [1]]), expect: [("A", "b", [1: [2, 3], 3: [1]])]),
        pairs(
            "M006.one-side-of-one-to-one-stays-without-the-other",
            ([Relationship("b", to: "B", inverse: "a")], [Relationship("a", to: "A", inverse: "b")]), ([Relationship("b", to: "B")], []),
            fill: ("A", "b", [1: [2], 3: [1]]), expect: [("A", "b", [1: [2], 3: [1]])]),
        pairs(
            "M006.the-other-side-of-many-to-many-stays-alone",
            ([Relationship("b", to: "B", .toMany, inverse: "a")], [Relationship("a", to: "A", .toMany, inverse: "b")]),
            ([], [Relationship("a", to: "A", .toMany)]),
            fill: ("A", "b", [1: [2, 3], 3: [3]]), expect: [("B", "a", [2: [1], 3: [1, 3]])]),
    ]

    private static let rules: [ConformanceCase] = [
        pairs(
            "M006.only-the-delete-rule-changes", ([Relationship("b", to: "B", .toMany)], []),
            ([Relationship("b", to: "B", .toMany, deleteRule: .cascade)], []),
            fill: ("A", "b", [1: [2, 3]]), expect: [("A", "b", [1: [2, 3]])]),
        migrationCase("M006.a-reference-becomes-required") { harness, check in
            let scene = MigrationScene(
                try schema("V1", [Relationship("b", to: "B")]), try schema("V2", [Relationship("b", to: "B", isOptional: false)]))
            try scene.refuse(harness, check, .validationFailed, "with nil", keys: [2]) { scratch in
                try fill(scratch)
                try scratch.connect("A", "b", [1: [1], 3: [2]])
            }
            try scene.run(
                harness,
                fill: { scratch in
                    try fill(scratch)
                    try scratch.connect("A", "b", [1: [1], 2: [1], 3: [2]])
                }
            ) { check.equal(try $0.members("A", "b"), [1: [1], 2: [1], 3: [2]], "without nil") }
        },
        migrationCase("M006.a-destination-becomes-its-parent") { harness, check in
            func schema(_ version: String, _ destination: String) throws -> Schema {
                try Schema(
                    version: version,
                    entities: [
                        Entity("Plant", attributes: [Attribute("name", .string, isOptional: true)]), Entity("Tree", parent: "Plant"),
                        Entity(
                            "Bird", relationships: [Relationship("home", to: destination), Relationship("seen", to: destination, .toMany)]),
                    ])
            }
            let scene = MigrationScene(try schema("V1", "Tree"), try schema("V2", "Plant"))
            try scene.run(
                harness,
                fill: { scratch in
                    try scratch.insert("Plant", [[:]])
                    try scratch.insert("Tree", [[:], [:]])
                    try scratch.insert("Bird", [[:]])
                    try scratch.connect("Bird", "home", [1: [3]])
                    try scratch.connect("Bird", "seen", [1: [2, 3]])
                }
            ) { scratch in
                check.equal(try scratch.members("Bird", "home"), [1: [3]], "home")
                check.equal(try scratch.members("Bird", "seen"), [1: [2, 3]], "seen")
            }
        },
    ]
}
