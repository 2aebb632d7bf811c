internal import Foundation
internal import Polystore

/// Cases with many versions: step by step, along a tree, backwards, and repeated.
enum ChainCases {
    static let all: [ConformanceCase] = chains + pasts

    private static func migrationCase(
        _ id: String, _ clause: String, _ body: @escaping @Sendable (StoreHarness, Check) throws -> Void
    ) -> ConformanceCase { ConformanceCase(id, clause: clause, needs: [.migrations], body) }

    private static func note(_ version: Int, _ attributes: [Attribute], entity: String = "Note", was: String? = nil) throws -> Schema {
        try Schema(version: "V\(version)", entities: [Entity(entity, attributes: attributes, originalName: was)])
    }

    /// Returns ten versions of one entity, and the values of a row of the first version in each of them.
    private static func ten() throws -> [(schema: Schema, values: [String: Value])] {
        let number = Attribute("a", .int16), text = Attribute("t", .string, isOptional: true)
        let mark = Attribute("mark", .string, defaultValue: .string("m"))
        let wide = Attribute("n", .int64, originalName: "a"), plain = Attribute("n", .int64)
        let flag = Attribute("flag", .bool, defaultValue: .bool(true))
        return [
            (try note(1, [number]), ["a": .int(5)]),
            (try note(2, [number, text]), ["a": .int(5), "t": .null]),
            (try note(3, [number, text, mark]), ["a": .int(5), "t": .null, "mark": .string("m")]),
            (try note(4, [wide, text, mark]), ["n": .int(5), "t": .null, "mark": .string("m")]),
            (try note(5, [plain, mark]), ["n": .int(5), "mark": .string("m")]),
            (try note(6, [plain, mark], entity: "Page", was: "Note"), ["n": .int(5), "mark": .string("m")]),
            (try note(7, [plain, mark, flag], entity: "Page"), ["n": .int(5), "mark": .string("m"), "flag": .bool(true)]),
            (
                try note(8, [flag, mark, Attribute("n", .decimal)], entity: "Page"),
                ["n": .decimal(5), "mark": .string("m"), "flag": .bool(true)]
            ),
            (
                try note(9, [flag, Attribute("n", .decimal), Attribute("a", .string, originalName: "mark")], entity: "Page"),
                ["n": .decimal(5), "a": .string("m"), "flag": .bool(true)]
            ),
            (
                try note(
                    10, [flag, Attribute("n", .decimal), Attribute("a", .string), Attribute("b", .int64, defaultValue: .int(1))],
                    entity: "Note",
                    was: "Page"), ["n": .decimal(5), "a": .string("m"), "flag": .bool(true), "b": .int(1)]
            ),
        ]
    }

    private static let chains: [ConformanceCase] = [
        migrationCase("M008.ten-versions-one-after-the-other", "M5") { harness, check in
            let ten = try ten()
            try harness.withStore(ten[0].schema) { scratch in
                try scratch.insert("Note", [["a": .int(5)], ["a": .int(5)]])
                var scratch = scratch
                for (before, after) in zip(ten, ten.dropFirst()) {
                    try MigrationScene(before.schema, after.schema).migrate(scratch)
                    scratch = Scratch(migrated: scratch, to: after.schema)
                    let name = after.schema.entities[0].name
                    check.equal(try scratch.fetch(ObjectRequest(name)).map(\.values), [after.values, after.values], after.schema.version)
                    check.equal(try scratch.fetch(ObjectRequest(name)).map(\.key), [1, 2], "keys of \(after.schema.version)")
                }
                let versions = try scratch.read { try MigrationRecord.all($0).map(\.schema.version) }
                check.equal(versions, (1...9).map { "V\($0)" }, "the versions that the store had")
            }
        },
        migrationCase("M008.ten-versions-in-a-chain", "M5") { harness, check in
            let ten = try ten()
            for start in [0, 3, 8] {
                var scene = MigrationScene(versions: ten.map(\.schema))
                scene.chain = MigrationChain(ten.map(\.schema.version))
                scene.first = start
                let name = ten[start].schema.entities[0].name
                try scene.run(harness, fill: { try $0.insert(name, [ten[start].values]) }) { scratch in
                    check.equal(try scratch.fetch(ObjectRequest("Note")).map(\.values), [ten[9].values], "from V\(start + 1)")
                }
            }
        },
        migrationCase("M008.a-tree-leads-each-version-its-way", "M5") { harness, check in
            // V1 and V2 migrate to V4 both through V3 and directly. V3 would add a default that is different in V4.
            let a = Attribute("a", .int64)
            func b(_ value: Int64) -> Attribute { Attribute("b", .int64, defaultValue: .int(value)) }
            let versions = [
                try note(1, [a]), try note(2, [a, Attribute("c", .int64, isOptional: true)]), try note(3, [a, b(3)]),
                try note(4, [a, b(4), Attribute("d", .bool, defaultValue: .bool(false))]),
                try note(5, [a, b(5), Attribute("d", .bool, defaultValue: .bool(true))]),
            ]
            for (start, b) in [(0, Int64(3)), (1, 4)] {
                var scene = MigrationScene(versions: versions)
                scene.chain = ["V1": "V3", "V2": "V4", "V3": "V4", "V4": "V5"]
                scene.first = start
                try scene.run(harness, fill: { try $0.insert("Note", [["a": .int(9)]]) }) { scratch in
                    check.equal(
                        try scratch.fetch(ObjectRequest("Note")).map(\.values), [["a": .int(9), "b": .int(b), "d": .bool(false)]],
                        "from V\(start + 1)")
                }
            }
        },
        migrationCase("M008.without-a-chain-each-version-leads-to-the-last", "M5") { harness, check in
            let versions = [
                try note(1, [Attribute("a", .int64)]),
                try note(2, [Attribute("a", .int64), Attribute("b", .int64, defaultValue: .int(2))]),
                try note(
                    3, [Attribute("a", .int64), Attribute("b", .int64, defaultValue: .int(3)), Attribute("c", .bool, isOptional: true)]),
            ]
            try MigrationScene(versions: versions).run(harness, fill: { try $0.insert("Note", [["a": .int(1)]]) }) { scratch in
                check.equal(try scratch.fetch(ObjectRequest("Note")).map { $0.values["b"] }, [.int(3)], "the default of the last")
            }
        },
        migrationCase("M008.a-failure-in-the-middle-leaves-the-version-before", "M5") { harness, check in
            let a = Attribute("a", .int64, isOptional: true)
            var scene = MigrationScene(
                try note(1, [a]), try note(2, [a, Attribute("b", .int64, isOptional: true)]),
                try note(3, [Attribute("a", .int64), Attribute("b", .int64, isOptional: true), Attribute("c", .bool, isOptional: true)]))
            scene.chain = ["V1", "V2", "V3"]
            try harness.withStore(scene.versions[0]) { scratch in
                try scratch.insert("Note", [[:]])
                check.throwing(.validationFailed, "nil in V3") { try scene.migrate(scratch) }
                let middle = Scratch(migrated: scratch, to: scene.versions[1])
                check.equal(try middle.fetch(ObjectRequest("Note")).map(\.values), [["a": .null, "b": .null]], "V2")
                try middle.update("Note", 1, ["a": .int(4)])
                try scene.migrate(middle)
                let last = Scratch(migrated: middle, to: scene.versions[2])
                check.equal(try last.fetch(ObjectRequest("Note")).map(\.values), [["a": .int(4), "b": .null, "c": .null]], "V3")
            }
        },
        migrationCase("M014.no-way-leads-back", "M5") { harness, check in
            let a = Attribute("a", .int64)
            var scene = MigrationScene(try note(1, [a]), try note(2, [a, Attribute("b", .int64, isOptional: true)]))
            scene.chain = ["V1", "V2"]
            scene.current = "V1"
            scene.first = 1
            try scene.refuse(harness, check, .noMigrationPath, "a chain that ends before", says: "\"V2\"") {
                try $0.insert("Note", [["a": .int(1), "b": .int(2)]])
            }
        },
        migrationCase("M014.a-new-version-can-be-as-an-old-one-was", "M5") { harness, check in
            let a = Attribute("a", .int64), b = Attribute("b", .int64, isOptional: true)
            let first = try note(1, [a]), second = try note(2, [a, b]), third = try note(3, [a])
            try harness.withStore(first) { scratch in
                try scratch.insert("Note", [["a": .int(1)]])
                try MigrationScene(second).migrate(scratch)
                let middle = Scratch(migrated: scratch, to: second)
                check.throwing(.noMigrationPath, "the first program again") { try MigrationScene(first).migrate(middle) }
                check.equal(try MigrationScene(third).migrate(middle).count, 1, "a third version without the attribute")
                let last = Scratch(migrated: middle, to: third)
                check.equal(try last.fetch(ObjectRequest("Note")).map(\.values), [["a": .int(1)]], "objects")
            }
        },
        migrationCase("M020.again-is-nothing", "M5") { harness, check in
            let scene = try MigrationScene(
                [Attribute("a", .int64)], [Attribute("a", .int64), Attribute("b", .int64, defaultValue: .int(1))])
            try harness.withStore(scene.versions[0]) { scratch in
                try scratch.insert("Note", [["a": .int(1)]])
                let token = try scratch.token()
                check.equal(try scene.migrate(scratch).count, 1, "steps")
                let migrated = Scratch(migrated: scratch, to: scene.versions[1]), rows = try scene.contents(migrated)
                check.equal(try scene.migrate(migrated), [], "no steps")
                check.equal(try migrated.token(), token, "token")
                check.equal(try scene.contents(migrated), rows, "rows")
                check.equal(try migrated.read { try MigrationRecord.all($0).count }, 1, "the versions that it had")
            }
        },
    ]

    private static let pasts: [ConformanceCase] = [
        migrationCase("M015.keys-of-deleted-objects-are-not-used-again", "M9") { harness, check in
            let a = Attribute("a", .int64, isOptional: true)
            let scene = MigrationScene(
                try note(1, [a]), try note(2, [a, Attribute("b", .int64, defaultValue: .int(1))], entity: "Page", was: "Note"))
            func fill(_ scratch: Scratch) throws { try scratch.delete("Note", try scratch.insert("Note", [[:], [:], [:]]).suffix(1)) }
            try scene.run(harness, fill: fill) { scratch in
                check.equal(try scratch.keys(ObjectRequest("Page")), [1, 2], "keys")
                let key = try scratch.insert("Page", [[:]])[0]
                check.isTrue(key > 3, "a new key")
                try scratch.delete("Page", [key])
            }
        },
        migrationCase("M015.the-history-goes-through-several-versions", "M9") { harness, check in
            let a = Attribute("a", .int64, isOptional: true), b = Attribute("b", .int64, isOptional: true)
            func schema(_ version: Int, _ entities: [Entity]) throws -> Schema { try Schema(version: "V\(version)", entities: entities) }
            let versions = [
                try schema(1, [Entity("Note", attributes: [a, b]), Entity("Old", attributes: [a])]),
                try schema(2, [Entity("Page", attributes: [b, a], originalName: "Note"), Entity("Old", attributes: [a])]),
                try schema(
                    3,
                    [
                        Entity("Leaf", attributes: [Attribute("c", .int64, isOptional: true, originalName: "b"), a], originalName: "Page"),
                        Entity("Also", attributes: [a]),
                    ]),
            ]
            try harness.withStore(versions[0]) { first in
                try first.insert("Note", [[:]])
                try first.insert("Old", [[:]])
                try first.update("Note", 1, ["b": .int(1)])
                try MigrationScene(versions[0], versions[1]).migrate(first)
                let second = Scratch(migrated: first, to: versions[1])
                try second.update("Page", 1, ["a": .int(2)])
                var scene = MigrationScene(versions[1], versions[2])
                scene.losses = ["Old"]
                try scene.migrate(second)
                let third = Scratch(migrated: second, to: versions[2])
                try third.update("Leaf", 1, ["c": .int(3)])
                let leaf = try third.entity("Leaf")
                func mask(_ name: String) -> HistoryChange.Kind {
                    var mask = SlotMask()
                    mask.insert(third.schema[leaf].slot(name) ?? 0)
                    return .update(mask)
                }
                let changes = try third.history().flatMap { $0.changes }
                check.isTrue(changes.allSatisfy { $0.entity == leaf && $0.key == 1 }, "changes of existing objects only")
                check.equal(changes.map(\.kind), [.insert, mask("c"), mask("a"), mask("c")], "changes")
            }
        },
        migrationCase("M015.references-follow-the-new-name-of-a-root-entity", "M9") { harness, check in
            func schema(_ version: Int, _ page: Entity) throws -> Schema {
                let target = Attribute("target", .string, isOptional: true, crossReference: CrossReference(to: page.name))
                return try Schema(version: "V\(version)", entities: [Entity("Note", attributes: [target]), page, Entity("Tag")])
            }
            let peer = UUID()
            func reference(_ root: String) -> Value { .string(ObjectKey(store: peer, root: root, key: 7).description) }
            let scene = MigrationScene(try schema(1, Entity("Page")), try schema(2, Entity("Leaf", originalName: "Page")))
            func fill(_ scratch: Scratch) throws {
                try scratch.insert("Note", [["target": reference("Page")], [:], ["target": reference("Tag")], ["target": .string("Page")]])
            }
            try scene.run(harness, fill: fill) { scratch in
                check.equal(
                    try scratch.fetch(ObjectRequest("Note")).map { $0.values["target"] },
                    [reference("Leaf"), .null, reference("Tag"), .string("Page")], "references")
            }
        },
        migrationCase("M015.the-history-keeps-the-pairs-of-an-abstract-entity", "M9") { harness, check in
            func schema(_ version: Int, _ attributes: [Attribute]) throws -> Schema {
                let friends = Relationship("friends", to: "Being", .toManyOrdered)
                return try Schema(
                    version: "V\(version)",
                    entities: [
                        Entity("Being", isAbstract: true, relationships: [friends]),
                        Entity("Person", parent: "Being", attributes: attributes),
                    ])
            }
            let a = Attribute("a", .int64, isOptional: true), b = Attribute("b", .int64, isOptional: true)
            let versions = [try schema(1, [a]), try schema(2, [a, b])]
            try harness.withStore(versions[0]) { first in
                try first.insert("Person", [[:], [:]])
                try first.connect("Person", "friends", [1: [2]])
                let before = try first.history().map { $0.changes.map(\.kind) }
                try MigrationScene(versions[0], versions[1]).migrate(first)
                let second = Scratch(migrated: first, to: versions[1])
                check.equal(try second.history().map { $0.changes.map(\.kind) }, before, "changes")
                check.equal(before.last, [.links(0)], "the pairs")
            }
        },
        migrationCase("M015.the-history-keeps-relationships-that-have-lost-all-their-objects", "M9") { harness, check in
            func schema(_ version: Int, _ isLeft: Bool, _ attributes: [Attribute] = []) throws -> Schema {
                let boss = Relationship("boss", to: "Being"), friends = Relationship("friends", to: "Being", .toMany)
                return try Schema(
                    version: "V\(version)",
                    entities: [
                        Entity("Being", isAbstract: true), Entity("Note", attributes: attributes, relationships: [boss, friends]),
                    ] + (isLeft ? [Entity("Person", parent: "Being")] : []))
            }
            let versions = [
                try schema(1, true), try schema(2, false), try schema(3, false, [Attribute("a", .int64, isOptional: true)]),
            ]
            try harness.withStore(versions[0]) { first in
                try first.insert("Person", [[:], [:]])
                try first.insert("Note", [[:]])
                try first.update("Note", 1, ["boss": .int(1)])
                try first.connect("Note", "friends", [1: [2]])
                let note = try first.entity("Note")
                func kinds(_ scratch: Scratch) throws -> [HistoryChange.Kind] {
                    let entity = try scratch.entity("Note")
                    return try scratch.history().flatMap { $0.changes }.filter { $0.entity == entity }.map(\.kind)
                }
                var boss = SlotMask()
                boss.insert(first.schema[note].slot("boss") ?? 0)
                check.equal(try kinds(first), [.insert, .update(boss), .links(0)], "changes of the first version")
                var scene = MigrationScene(versions[0], versions[1])
                scene.losses = ["Person"]
                try scene.migrate(first)
                let second = Scratch(migrated: first, to: versions[1])
                check.equal(try kinds(second), [.insert, .update(boss), .links(0)], "changes of the first version, in the second")
                try second.update("Note", 1, ["boss": .null])
                try MigrationScene(versions[1], versions[2]).migrate(second)
                let third = Scratch(migrated: second, to: versions[2])
                boss = SlotMask()
                boss.insert(third.schema[try third.entity("Note")].slot("boss") ?? 0)
                check.equal(try kinds(third), [.insert, .update(boss), .links(0), .update(boss)], "changes of both, in the third")
            }
        },
        migrationCase("M015.the-history-of-pairs-follows-their-objects-and-ends-with-them", "M9") { harness, check in
            func person(_ items: String? = nil, _ attributes: [Attribute] = []) -> Entity {
                Entity(
                    "Person", attributes: attributes,
                    relationships: items.map { [Relationship("items", to: $0, .toMany, inverse: "people")] } ?? [])
            }
            func people(_ entity: String, _ inverse: String? = nil) -> Entity {
                Entity(entity, relationships: [Relationship("people", to: "Person", .toMany, inverse: inverse)])
            }
            func expect(
                _ name: String, _ before: [Entity], _ after: [Entity], _ mappings: [CustomSchemaMappingProvider.CustomMapping],
                _ expected: [String]
            ) throws {
                var scene = MigrationScene(try Schema(version: "V1", entities: before), try Schema(version: "V2", entities: after))
                scene.providers = [CustomSchemaMappingProvider(from: "V1", to: "V2", entityMappings: mappings)]
                try harness.withStore(scene.versions[0]) { first in
                    try first.insert("Person", [[:], [:]])
                    try first.insert("Note", [[:]])
                    try first.connect("Note", "people", [1: [2]])
                    try scene.migrate(first)
                    let second = Scratch(migrated: first, to: scene.versions[1])
                    let found = try second.history().flatMap { $0.changes }.map { change in
                        let kind =
                            switch change.kind {
                            case .insert: "+"
                            case .update(let mask): "\(mask.slots.count)"
                            case .delete: "-"
                            case .links(let link): second.schema.entities[second.schema.links[link].owner].name
                            }
                        return "\(second.schema.entities[change.entity].name) \(change.key) \(kind)"
                    }
                    check.equal(found, expected, name)
                }
            }
            try expect(
                "the pairs of objects that are discarded", [people("Note"), person()],
                [people("Note"), person(nil, [Attribute("a", .int64, isOptional: true)])], [.deleteEntity(sourceEntity: "Note")],
                ["Person 1 +", "Person 2 +"])
            try expect(
                "an inverse that refers to another entity", [people("Note", "items"), person("Note")],
                [people("Page", "items"), person("Page")],
                [.deleteEntity(sourceEntity: "Note"), .copyEntity(sourceEntity: "Person", destinationEntity: "Person")],
                ["Person 1 +", "Person 2 +"])
            for name in ["Page", "Memo"] {
                try expect(
                    "objects that become a \(name)", [people("Note"), person()], [people("Note"), people(name), person()],
                    [.copyEntity(sourceEntity: "Note", destinationEntity: name)],
                    ["Person 1 +", "Person 2 +", "\(name) 1 +", "\(name) 1 \(name)"])
            }
        },
    ]
}
