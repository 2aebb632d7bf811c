internal import Foundation
internal import Polystore

/// Cases about migration steps that are inferred from the schemas.
enum MigrationCases {
    static let all: [ConformanceCase] = attributes + types + rules

    private static func migrationCase(
        _ id: String, _ clause: String, _ body: @escaping @Sendable (StoreHarness, Check) throws -> Void
    ) -> ConformanceCase { ConformanceCase(id, clause: clause, needs: [.migrations], body) }

    private static func notes(_ scratch: Scratch, _ rows: [[String: Value]]) throws { try scratch.insert("Note", rows) }

    private static func values(_ scratch: Scratch, _ name: String) throws -> [Value] {
        try scratch.fetch(ObjectRequest("Note")).map { $0.values[name] ?? .null }
    }

    private static let attributes: [ConformanceCase] = [
        migrationCase("M001.an-optional-attribute-comes", "M1") { harness, check in
            let scene = try MigrationScene([Attribute("a", .int64)], [Attribute("a", .int64), Attribute("b", .string, isOptional: true)])
            try scene.run(harness, fill: { try notes($0, [["a": .int(1)], ["a": .int(2)]]) }) { scratch in
                check.equal(
                    try scratch.fetch(ObjectRequest("Note")).map(\.values),
                    [["a": .int(1), "b": .null], ["a": .int(2), "b": .null]], "rows")
            }
        },
        migrationCase("M001.an-attribute-with-a-default-comes", "M1") { harness, check in
            let all: [(String, ValueType, Value)] = [
                ("bool", .bool, .bool(true)), ("int", .int64, .int(.min)), ("small", .int16, .int(-7)), ("double", .double, .double(0.1)),
                ("whole", .double, .double(-3)), ("float", .float, .double(0.5)), ("text", .string, .string("it's \\ \"so\"")),
                ("date", .date, .date(-1)), ("data", .data, .data(Data([0, 255]))),
                ("id", .uuid, .uuid(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") ?? UUID())),
                ("number", .decimal, .decimal(Decimal(string: "-12.5") ?? 0)), ("place", .url, .string("https://example.com/a?b")),
            ]
            let scene = try MigrationScene(
                [Attribute("a", .int64)], [Attribute("a", .int64)] + all.map { Attribute($0.0, $0.1, defaultValue: $0.2) })
            try scene.run(harness, fill: { try notes($0, [["a": .int(1)], ["a": .int(2)]]) }) { scratch in
                for (name, _, value) in all { check.equal(try values(scratch, name), [value, value], name) }
            }
        },
        migrationCase("M001.a-required-attribute-without-default-is-refused", "M1") { harness, check in
            let scene = try MigrationScene([Attribute("a", .int64)], [Attribute("a", .int64), Attribute("b", .string)])
            try scene.refuse(harness, check, .noMigrationPath, "a required attribute") { try notes($0, [["a": .int(1)]]) }
        },
        migrationCase("M002.an-attribute-goes-when-it-is-named", "M1") { harness, check in
            var scene = try MigrationScene([Attribute("a", .int64), Attribute("b", .string, isOptional: true)], [Attribute("a", .int64)])
            try scene.refuse(harness, check, .dataLossRefused, "values of b") { try notes($0, [["a": .int(1), "b": .string("x")]]) }
            // Where no value is stored, none is lost.
            try scene.run(harness, fill: { try notes($0, [["a": .int(1)]]) }) { scratch in
                check.equal(try scratch.fetch(ObjectRequest("Note")).map(\.values), [["a": .int(1)]], "nil is removed without an error")
            }
            scene.losses = ["Note.b"]
            try scene.run(harness, fill: { try notes($0, [["a": .int(1), "b": .string("x")]]) }) { scratch in
                check.equal(try scratch.fetch(ObjectRequest("Note")).map(\.values), [["a": .int(1)]], "named")
            }
        },
        migrationCase("M002.attributes-are-renamed-also-in-a-circle", "M1") { harness, check in
            let scene = try MigrationScene(
                [Attribute("a", .int64), Attribute("b", .int64), Attribute("c", .int64)],
                [
                    Attribute("b", .int64, originalName: "a"), Attribute("c", .int64, originalName: "b"),
                    Attribute("a", .int64, originalName: "c"),
                ])
            try scene.run(harness, fill: { try notes($0, [["a": .int(1), "b": .int(2), "c": .int(3)]]) }) { scratch in
                check.equal(
                    try scratch.fetch(ObjectRequest("Note")).map(\.values), [["b": .int(1), "c": .int(2), "a": .int(3)]], "values")
            }
        },
        migrationCase("M002.entities-are-renamed-also-for-each-other", "M1") { harness, check in
            func schema(_ version: String, _ entities: [Entity]) throws -> Schema { try Schema(version: version, entities: entities) }
            let scene = MigrationScene(
                try schema("V1", [Entity("A", attributes: [Attribute("x", .int64)]), Entity("B", attributes: [Attribute("y", .string)])]),
                try schema(
                    "V2",
                    [
                        Entity("B", attributes: [Attribute("x", .int64)], indexes: [Index(["x"])], originalName: "A"),
                        Entity("A", attributes: [Attribute("y", .string)], originalName: "B"),
                    ]))
            try scene.run(
                harness,
                fill: { scratch in
                    try scratch.insert("A", [["x": .int(1)], ["x": .int(2)]])
                    try scratch.insert("B", [["y": .string("b")]])
                }
            ) { scratch in
                check.equal(try scratch.fetch(ObjectRequest("B")).map { $0.values["x"] ?? .null }, [.int(1), .int(2)], "A became B")
                check.equal(try scratch.fetch(ObjectRequest("A")).map { $0.values["y"] ?? .null }, [.string("b")], "B became A")
            }
        },
    ]

    private static let types: [ConformanceCase] = [
        migrationCase("M003.types-widen", "M1") { harness, check in
            let pairs: [(ValueType, ValueType, Value, Value)] = [
                (.int16, .int32, .int(-32768), .int(-32768)), (.int16, .int64, .int(7), .int(7)), (.int32, .int64, .int(-5), .int(-5)),
                (.int16, .float, .int(3), .double(3)), (.int16, .double, .int(3), .double(3)), (.int32, .double, .int(-2), .double(-2)),
                (.int16, .decimal, .int(12), .decimal(12)), (.int64, .decimal, .int(.max), .decimal(Decimal(Int64.max))),
                (.float, .double, .double(0.5), .double(0.5)), (.float, .double, .double(Double(Float(0.1))), .double(Double(Float(0.1)))),
                (.url, .string, .string("https://a.b/"), .string("https://a.b/")),
            ]
            for (before, after, old, new) in pairs {
                let scene = try MigrationScene([Attribute("a", before, isOptional: true)], [Attribute("a", after, isOptional: true)])
                try scene.run(harness, fill: { try notes($0, [["a": old], [:]]) }) { scratch in
                    check.equal(try values(scratch, "a"), [new, .null], "\(before) to \(after)")
                }
            }
        },
        migrationCase("M003.whole-numbers-narrow-where-all-fit", "M1") { harness, check in
            let scene = try MigrationScene([Attribute("a", .int64)], [Attribute("a", .int16)])
            try scene.run(harness, fill: { try notes($0, [["a": .int(-32768)], ["a": .int(32767)]]) }) { scratch in
                check.equal(try values(scratch, "a"), [.int(-32768), .int(32767)], "values")
            }
            try scene.refuse(harness, check, .validationFailed, "32768", keys: [2]) { try notes($0, [["a": .int(1)], ["a": .int(32768)]]) }
        },
        migrationCase("M003.other-types-need-a-mapping", "M1") { harness, check in
            let scene = try MigrationScene([Attribute("a", .int64)], [Attribute("a", .string)])
            try scene.refuse(harness, check, .noMigrationPath, "int64 to string") { try notes($0, [["a": .int(1)]]) }
        },
        migrationCase("M004.optional-becomes-required", "M1") { harness, check in
            let optional = [Attribute("a", .int64, isOptional: true)]
            let scene = try MigrationScene(optional, [Attribute("a", .int64)])
            try scene.run(harness, fill: { try notes($0, [["a": .int(1)]]) }) { check.equal(try values($0, "a"), [.int(1)], "without nil") }
            try scene.refuse(harness, check, .validationFailed, "with nil", keys: [2]) { try notes($0, [["a": .int(1)], [:]]) }
            let filled = try MigrationScene(optional, [Attribute("a", .int64, defaultValue: .int(9))])
            try filled.run(harness, fill: { try notes($0, [["a": .int(1)], [:]]) }) { scratch in
                check.equal(try values(scratch, "a"), [.int(1), .int(9)], "with a default")
            }
        },
    ]

    private static let rules: [ConformanceCase] = [
        migrationCase("M005.indexes-and-constraints-come-and-go", "M2") { harness, check in
            let attributes = [Attribute("a", .int64), Attribute("b", .string, isOptional: true)]
            func schema(_ version: String, _ indexes: [Index], _ unique: [UniqueConstraint]) throws -> Schema {
                try Schema(
                    version: version, entities: [Entity("Note", attributes: attributes, indexes: indexes, uniqueConstraints: unique)])
            }
            let scene = MigrationScene(
                try schema("V1", [Index(["b"])], []),
                try schema("V2", [Index(["a"]), Index(["b"], kind: .fullText)], [UniqueConstraint(["b"])]))
            let rows: [[String: Value]] = (0..<200).map { ["a": .int(Int64($0 % 10)), "b": $0 == 199 ? .null : .string("word \($0)")] }
            try scene.run(harness, fill: { try notes($0, rows) }) { scratch in
                check.equal(try scratch.keys(ObjectRequest("Note", where: QueryPredicate(parsing: "a == 3"))).count, 20, "by the new index")
                check.equal(try scratch.keys(ObjectRequest("Note", where: QueryPredicate(parsing: "b SEARCH '17'"))), [18], "by the words")
                check.throwing(.uniqueConstraintViolated, "the new constraint") {
                    try notes(scratch, [["a": .int(1), "b": .string("word 5")]])
                }
            }
            try scene.refuse(harness, check, .uniqueConstraintViolated, "duplicates", keys: [1, 3]) { scratch in
                try notes(
                    scratch, [["a": .int(1), "b": .string("x")], ["a": .int(1), "b": .string("y")], ["a": .int(2), "b": .string("x")]])
            }
        },
        migrationCase("M005.a-new-index-refuses-values-that-are-too-long", "M2") { harness, check in
            let attributes = [Attribute("a", .string), Attribute("b", .data, isOptional: true)]
            func schema(_ version: String, _ indexes: [Index], _ unique: [UniqueConstraint] = []) throws -> Schema {
                try Schema(
                    version: version, entities: [Entity("Note", attributes: attributes, indexes: indexes, uniqueConstraints: unique)])
            }
            func text(_ count: Int) -> Value { .string(String(repeating: "é", count: count)) }
            func data(_ count: Int) -> Value { .data(Data(repeating: 7, count: count)) }
            let before = try schema("V1", [])
            let scene = MigrationScene(before, try schema("V2", [Index(["a"])], [UniqueConstraint(["b"])]))
            let fitting: [[String: Value]] = [["a": text(512), "b": data(1024)], ["a": text(0), "b": .null]]
            try scene.run(harness, fill: { try notes($0, fitting) }) { scratch in
                check.equal(try scratch.keys(ObjectRequest("Note")), [1, 2], "values of the greatest length")
            }
            try scene.refuse(harness, check, .valueTooLarge, "a text of 1,026 bytes in 513 characters", keys: [2]) { scratch in
                try notes(scratch, [["a": text(512), "b": .null], ["a": text(513), "b": .null]])
            }
            try scene.refuse(harness, check, .valueTooLarge, "data", keys: [1]) { scratch in
                try notes(scratch, [["a": text(1), "b": data(1025)], ["a": text(1), "b": data(1024)]])
            }
        },
        migrationCase("M005.nil-that-becomes-a-value-keeps-constraints", "M2") { harness, check in
            func schema(_ version: String, _ b: Attribute) throws -> Schema {
                try Schema(version: version, entities: [Entity("Note", attributes: [b], uniqueConstraints: [UniqueConstraint(["b"])])])
            }
            let scene = MigrationScene(
                try schema("V1", Attribute("b", .string, isOptional: true)),
                try schema("V2", Attribute("b", .string, defaultValue: .string("x"))))
            try scene.run(harness, fill: { try notes($0, [["b": .null], ["b": .string("y")]]) }) { scratch in
                check.equal(try scratch.fetch(ObjectRequest("Note")).map { $0.values["b"] }, [.string("x"), .string("y")], "values")
                check.throwing(.uniqueConstraintViolated, "the constraint") { try notes(scratch, [["b": .string("x")]]) }
            }
            try scene.refuse(harness, check, .uniqueConstraintViolated, "two that were nil", keys: [1, 3]) { scratch in
                try notes(scratch, [["b": .null], ["b": .string("y")], ["b": .null]])
            }
        },
        migrationCase("M005.words-are-found-before-and-after", "M2") { harness, check in
            let words = Attribute("b", .string), index = Index(["b"], kind: .fullText)
            let scene = MigrationScene(
                try Schema(version: "V1", entities: [Entity("Note", attributes: [words], indexes: [index])]),
                try Schema(
                    version: "V2",
                    entities: [
                        Entity(
                            "Note", attributes: [words, Attribute("c", .string, defaultValue: .string("Ärger"))],
                            indexes: [index, Index(["c"], kind: .fullText)])
                    ]))
            try scene.run(harness, fill: { try notes($0, [["b": .string("ein Übel")], ["b": .string("zwei")]]) }) { scratch in
                let found = try scratch.keys(ObjectRequest("Note", where: QueryPredicate(parsing: "b SEARCH 'ubel'")))
                check.equal(found, [1], "the old index")
                check.equal(
                    try scratch.keys(ObjectRequest("Note", where: QueryPredicate(parsing: "c SEARCH 'arger'"))), [1, 2], "the new one")
            }
        },
        migrationCase("M015.keys-versions-and-tokens-stay", "M9") { harness, check in
            let scene = try MigrationScene(
                [Attribute("a", .int64), Attribute("b", .int64, isOptional: true)],
                [
                    Attribute("z", .string, isOptional: true), Attribute("c", .int64, isOptional: true, originalName: "b"),
                    Attribute("a", .int64),
                ])
            var token: HistoryToken?
            try scene.run(
                harness,
                fill: { scratch in
                    try notes(scratch, [["a": .int(1)], ["a": .int(2)], ["a": .int(3)]])
                    try scratch.update("Note", 2, ["b": .int(5)])
                    token = try scratch.token()
                    try scratch.update("Note", 1, ["b": .int(6)])
                    try scratch.delete("Note", [3])
                }
            ) { scratch in
                let rows = try scratch.fetch(ObjectRequest("Note"))
                check.equal(rows.map(\.key), [1, 2], "keys")
                check.equal(rows.map(\.version), [2, 2], "versions")
                check.equal(rows.map { $0.values["c"] ?? .null }, [.int(6), .int(5)], "values")
                let entries = try scratch.history(since: token).prefix(2)
                check.equal(entries.map(\.changes.count), [1, 1], "the history continues")
                var mask = SlotMask()
                mask.insert(scratch.schema[0].slot("c") ?? 0)
                check.equal(entries.first?.changes.first?.kind, .update(mask), "by the new names")
                check.equal(entries.last?.changes.first?.kind, .delete, "deletes too")
                let key = try scratch.insert("Note", [["a": .int(9)]])[0]
                check.isTrue(key > 3, "a key is not used again")
                try scratch.delete("Note", [key])
            }
        },
    ]
}
