internal import Foundation
internal import Polystore

/// Cases about the input and output of a program's transformers, and about a step in which one fails.
enum TransformerCases {
    static let all: [ConformanceCase] = seeing + writing + failing + stages

    private typealias Transformer = CustomSchemaMappingProvider.Transformer

    private static let team = Entity(
        "Team", attributes: [Attribute("name", .string, isOptional: true)],
        relationships: [
            Relationship("players", to: "Player", .toMany, inverse: "team"), Relationship("list", to: "Player", .toManyOrdered),
            Relationship("fans", to: "Player", .toMany, inverse: "likes"),
        ])
    private static let player = Entity(
        "Player",
        attributes: [
            Attribute("name", .string, isOptional: true), Attribute("age", .int16, isOptional: true),
            Attribute("price", .decimal, isOptional: true), Attribute("born", .date, isOptional: true),
            Attribute("id", .uuid, isOptional: true), Attribute("photo", .data, isOptional: true),
            Attribute("page", .url, isOptional: true),
            Attribute("good", .bool, isOptional: true), Attribute("size", .double, isOptional: true),
        ],
        relationships: [
            Relationship("team", to: "Team", inverse: "players"), Relationship("likes", to: "Team", .toMany, inverse: "fans"),
        ])

    /// Returns a scene with Team and Player, where the team gets a text and a number.
    private static func scene(
        _ attributes: [Attribute] = [], team transformer: @escaping Transformer = CustomSchemaMappingProvider.inferredTransformation,
        player other: Transformer? = nil
    ) throws -> MigrationScene {
        var after = team
        after.attributes += [Attribute("text", .string, isOptional: true), Attribute("count", .int16, isOptional: true)] + attributes
        var mappings: [MappedMigrations.Mapping] = [
            .transformEntity(sourceEntity: "Team", destinationEntity: "Team", transformer: transformer)
        ]
        if let other { mappings.append(.transformEntity(sourceEntity: "Player", destinationEntity: "Player", transformer: other)) }
        var scene = MigrationScene(
            try Schema(version: "V1", entities: [team, player]), try Schema(version: "V2", entities: [after, player]))
        scene.providers = [CustomSchemaMappingProvider(from: "V1", to: "V2", entityMappings: mappings)]
        return scene
    }

    private static func fill(_ scratch: Scratch) throws {
        try scratch.insert("Team", [["name": .string("Reds")], ["name": .string("Blues")]])
        try scratch.insert(
            "Player",
            [
                ["name": .string("Ann"), "age": .int(30), "price": .decimal(Decimal(string: "1.5") ?? 0), "size": .double(1.25)],
                ["name": .string("Bob"), "born": .date(1_000_000), "good": .bool(true), "page": .string("https://a.b/c")],
                [
                    "name": .string("Cid"), "id": .uuid(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF") ?? UUID()),
                    "photo": .data(Data([0, 1])),
                ],
            ])
        try scratch.connect("Player", "team", [1: [1], 2: [1], 3: [2]])
        try scratch.connect("Team", "list", [1: [3, 1]])
        try scratch.connect("Team", "fans", [2: [1, 2]])
    }

    private static func migrationCase(
        _ id: String, _ body: @escaping @Sendable (StoreHarness, Check) throws -> Void
    ) -> ConformanceCase { ConformanceCase(id, clause: "M6", needs: [.migrations], body) }

    private static func texts(_ scratch: Scratch) throws -> [Value?] { try scratch.fetch(ObjectRequest("Team")).map { $0.values["text"] } }

    private static let seeing: [ConformanceCase] = [
        migrationCase("M009.a-transformer-sees-related-objects") { harness, check in
            let scene = try scene(team: { source, create in
                func names(_ relationship: String) -> [String] {
                    (source[relationship] as? [UnsafeSourceObject] ?? []).map { $0["name"] as? String ?? "?" }
                }
                let new = create(), list = names("list")
                new.copyAttributes(from: source)
                new["text"] = "\(names("players").sorted()) \(list) \(names("fans").sorted())"
                new["count"] = list.count
            })
            try scene.run(harness, fill: fill) { scratch in
                check.equal(
                    try texts(scratch),
                    [.string("[\"Ann\", \"Bob\"] [\"Cid\", \"Ann\"] []"), .string("[\"Cid\"] [] [\"Ann\", \"Bob\"]")], "texts")
                check.equal(try scratch.fetch(ObjectRequest("Team")).map { $0.values["count"] }, [.int(2), .int(0)], "counts")
                check.equal(try scratch.members("Player", "team"), [1: [1], 2: [1], 3: [2]], "team")
                check.equal(try scratch.members("Team", "list"), [1: [3, 1]], "list")
                check.equal(try scratch.members("Player", "likes"), [1: [2], 2: [2]], "likes")
            }
        },
        migrationCase("M009.values-have-their-natural-types") { harness, check in
            let scene = try scene(player: { source, create in
                var kinds: [String] = []
                for attribute in source.attributes {
                    if let value = source[attribute.name] { kinds.append("\(attribute.name) \(type(of: value))") }
                }
                let team = (source["team"] as? UnsafeSourceObject)?["name"] as? String
                let likes = (source["likes"] as? [UnsafeSourceObject])?.map(\.key) ?? []
                let new = create()
                new.copyAttributes(from: source)
                new["name"] = "\(kinds.joined(separator: ", ")) of \(team ?? "none") \(likes) \(source.entityName) \(source.key)"
            })
            try scene.run(harness, fill: fill) { scratch in
                check.equal(
                    try scratch.fetch(ObjectRequest("Player")).map { $0.values["name"] },
                    [
                        .string("name String, age Int, price \(Decimal.self), size Double of Reds [2] Player 1"),
                        .string("name String, born Date, page String, good Bool of Reds [2] Player 2"),
                        .string("name String, id UUID, photo Data of Blues [] Player 3"),
                    ], "kinds")
            }
        },
    ]

    private static let writing: [ConformanceCase] = [
        migrationCase("M009.a-new-object-begins-with-its-defaults") { harness, check in
            var scene = try scene(
                [Attribute("level", .int64, defaultValue: .int(7)), Attribute("name2", .string, isOptional: true, originalName: "name")],
                team: { _, create in _ = create() })
            scene.losses = ["Team.name", "Team.name2"]
            try scene.run(harness, fill: fill) { scratch in
                let teams = try scratch.fetch(ObjectRequest("Team"))
                check.equal(teams.map { $0.values["level"] }, [.int(7), .int(7)], "default")
                check.equal(teams.map { $0.values["name2"] }, [.null, .null], "not copied")
                check.equal(try scratch.members("Team", "players"), [1: [1, 2], 2: [3]], "pairs go on")
            }
        },
        migrationCase("M009.attributes-are-enumerated-with-their-origins") { harness, check in
            let scene = try scene(
                [Attribute("level", .int64, defaultValue: .int(7))],
                team: { source, create in
                    let new = create()
                    var pairs: [String] = []
                    new.enumerateAttributes { attribute, origin in
                        pairs.append("\(attribute.name)<\(origin?.name ?? "")")
                        if let origin { new[attribute] = source[origin] }
                    }
                    new["text"] = pairs.sorted().joined(separator: " ")
                })
            try scene.run(harness, fill: fill) { scratch in
                check.equal(try texts(scratch).first, .string("count< level< name<name text<"), "attributes")
                check.equal(
                    try scratch.fetch(ObjectRequest("Team")).map { $0.values["name"] }, [.string("Reds"), .string("Blues")], "names")
            }
        },
        migrationCase("M009.to-one-relationships-are-set-by-objects") { harness, check in
            let scene = try scene(player: { source, create in
                let new = create()
                new.copyAttributes(from: source)
                new["team"] = source["name"] as? String == "Ann" ? nil : (source["likes"] as? [UnsafeSourceObject])?.first
            })
            try scene.run(harness, fill: fill) { check.equal(try $0.members("Player", "team"), [2: [2]], "team") }
        },
        migrationCase("M009.an-object-that-is-not-made-is-left-behind") { harness, check in
            let scene = try scene(team: { source, create in
                if source["name"] as? String == "Reds" { create().copyAttributes(from: source) }
            })
            try scene.run(harness, fill: fill) { scratch in
                check.equal(try scratch.fetch(ObjectRequest("Team")).map(\.key), [1], "teams")
                check.equal(try scratch.members("Player", "team"), [1: [1], 2: [1]], "team")
                check.equal(try scratch.members("Player", "likes"), [:], "likes")
            }
        },
    ]

    private static let failing: [ConformanceCase] = [
        migrationCase("M009.a-forgotten-attribute-undoes-the-step") { harness, check in
            let forgetful = try scene(team: { source, create in create()["text"] = "\(source.key)" })
            try forgetful.refuse(harness, check, .dataLossRefused, "a name", says: "\"Team.name\"", fill: fill)
            var accepted = forgetful
            accepted.losses = ["Team.name"]
            try accepted.run(harness, fill: fill) { check.equal(try texts($0), [.string("1"), .string("2")], "accepted") }
            // What is read is used, what is assigned for some objects is not forgotten, and what has no values is not lost.
            let reading = try scene(team: { source, create in create()["text"] = source["name"] })
            try reading.run(harness, fill: fill) { check.equal(try texts($0), [.string("Reds"), .string("Blues")], "read") }
            let some = try scene(team: { source, create in
                let new = create()
                if source.key == 1 { new["name"] = "First" }
            })
            try some.run(harness, fill: fill) { scratch in
                check.equal(try scratch.fetch(ObjectRequest("Team")).map { $0.values["name"] }, [.string("First"), .null], "assigned")
            }
            try forgetful.run(harness, fill: { try $0.insert("Team", [[:]]) }) { check.equal(try texts($0), [.string("1")], "no values") }
        },
        migrationCase("M009.what-a-transformer-throws-undoes-the-step") { harness, check in
            struct Mishap: Error {}
            let own = try scene(team: { source, create in
                create().copyAttributes(from: source)
                if source["name"] as? String == "Blues" { throw Mishap() }
            })
            try own.refuse(harness, check, .validationFailed, "an error of its own", keys: [2], fill: fill)
            let ours = try scene(player: { _, _ in throw StorageError(.timeout, "enough") })
            try ours.refuse(harness, check, .timeout, "one of ours", fill: fill)
        },
        migrationCase("M009.unknown-names-undo-the-step-with-the-nearest") { harness, check in
            let reading = try scene(team: { source, create in create()["text"] = source["nmae"] })
            try reading.refuse(harness, check, .invalidPredicate, "reading", says: "\"name\"", fill: fill)
            let writing = try scene(team: { _, create in create()["txet"] = "x" })
            try writing.refuse(harness, check, .invalidPredicate, "writing", says: "\"text\"", fill: fill)
            let pairs = try scene(team: { _, create in create()["players"] = nil })
            try pairs.refuse(harness, check, .unsupported, "a to-many", says: "Team.players", fill: fill)
        },
        migrationCase("M009.values-that-do-not-fit-undo-the-step") { harness, check in
            let wrong = try scene(team: { _, create in create()["text"] = 5 })
            try wrong.refuse(harness, check, .validationFailed, "a number for a text", says: "text", fill: fill)
            let large = try scene(team: { source, create in create()["count"] = source.key == 2 ? 40_000 : 1 })
            try large.refuse(harness, check, .validationFailed, "out of range", keys: [2], fill: fill)
            let missing = try scene(
                [Attribute("must", .string)], team: { source, create in create()["must"] = source.key == 1 ? "x" : nil })
            try missing.refuse(harness, check, .validationFailed, "nil in a required attribute", keys: [2], fill: fill)
            let zero = try scene(team: { _, create in create()["text"] = "a\u{0}b" })
            try zero.refuse(harness, check, .validationFailed, "a text with U+0000", says: "text", fill: fill)
            let kind = try scene(player: { source, create in create()["team"] = source["name"] })
            try kind.refuse(harness, check, .validationFailed, "a text for an object", says: "team", fill: fill)
        },
    ]

    private static let stages: [ConformanceCase] = [
        migrationCase("M009.a-stage-works-with-objects-of-both-versions") { harness, check in
            var scene = try scene()
            scene.providers = []
            scene.stages = [
                MigrationStage(
                    from: "V1", to: "V2",
                    preMigration: { context in
                        try context.perform { transaction in
                            for player in try transaction.fetchAll(From<DynamicObject>(entity: "Player")) {
                                if try player.value("name") == .string("Cid") { try transaction.delete(player) }
                            }
                        }
                    },
                    postMigration: { context in
                        try context.perform { transaction in
                            for team in try transaction.fetchAll(From<DynamicObject>(entity: "Team")) {
                                try team.setValue(team.value("name"), for: "text")
                            }
                            try transaction.create(Into<DynamicObject>(entity: "Team")).setValue(.string("Greens"), for: "name")
                        }
                    })
            ]
            try scene.run(harness, fill: fill) { scratch in
                check.equal(try scratch.fetch(ObjectRequest("Player")).map(\.key), [1, 2], "players")
                check.equal(try texts(scratch), [.string("Reds"), .string("Blues"), .null], "texts")
                check.equal(try scratch.members("Team", "list"), [1: [1]], "deleted objects are in no list")
            }
        },
        migrationCase("M009.what-a-stage-throws-undoes-the-step") { harness, check in
            struct Mishap: Error {}
            for isBefore in [true, false] {
                let work: MigrationStage.Work = { context in
                    try context.perform { try $0.create(Into<DynamicObject>(entity: "Team")).setValue(.string("Greens"), for: "name") }
                    throw Mishap()
                }
                var scene = try scene()
                scene.providers = []
                scene.stages = [
                    MigrationStage(
                        from: "V1", to: "V2", label: "greens", preMigration: isBefore ? work : nil, postMigration: isBefore ? nil : work)
                ]
                try scene.refuse(harness, check, .validationFailed, "before: \(isBefore)", says: "\"greens\"", fill: fill)
            }
        },
    ]
}
