internal import Foundation
internal import Polystore

/// Cases about values that a step with transformers keeps, in one of its mappings or in its stage, or would lose.
enum TransformerLosses {
    static let all: [ConformanceCase] = mappings + stages

    private typealias Mapped = MappedMigrations

    private static func migrationCase(
        _ id: String, _ body: @escaping @Sendable (StoreHarness, Check) throws -> Void
    ) -> ConformanceCase { ConformanceCase(id, clause: "M6", needs: [.migrations], body) }

    private static func texts(_ names: String...) -> [Attribute] { names.map { Attribute($0, .string, isOptional: true) } }

    private static func values(_ scratch: Scratch, _ entity: String, _ names: String...) throws -> [[Value?]] {
        try scratch.fetch(ObjectRequest(entity)).map { row in names.map { row.values[$0] } }
    }

    // MARK: Mappings

    /// Returns a scene in which people become people and accounts, and both could have the names.
    private static func split(_ person: Mapped.Mapping, _ account: @escaping CustomSchemaMappingProvider.Transformer) throws
        -> MigrationScene
    {
        try Mapped.scene(
            [Entity("Person", attributes: texts("name", "iban"))],
            [Entity("Person", attributes: texts("name")), Entity("Account", attributes: texts("iban", "name"))],
            person, .transformEntity(sourceEntity: "Person", destinationEntity: "Account", transformer: account))
    }

    private static func people(_ transformer: @escaping CustomSchemaMappingProvider.Transformer) -> Mapped.Mapping {
        .transformEntity(sourceEntity: "Person", destinationEntity: "Person", transformer: transformer)
    }

    private static func fillPeople(_ scratch: Scratch) throws {
        try scratch.insert("Person", [["name": .string("Ann"), "iban": .string("DE1")]])
    }

    /// Returns a scene in which the tags of dogs go to their owners.
    private static func tags() throws -> MigrationScene {
        func dog(_ attributes: [Attribute]) -> Entity {
            Entity("Dog", attributes: attributes, relationships: [Relationship("owner", to: "Man", inverse: "dogs")])
        }
        let man = Entity(
            "Man", attributes: texts("name", "tag"), relationships: [Relationship("dogs", to: "Dog", .toMany, inverse: "owner")])
        return try Mapped.scene(
            [dog(texts("name", "tag")), man], [dog(texts("name", "tag", "note")), man],
            .transformEntity(sourceEntity: "Dog", destinationEntity: "Dog") { source, create in create()["name"] = source["name"] },
            .transformEntity(sourceEntity: "Man", destinationEntity: "Man") { source, create in
                let new = create()
                new["name"] = source["name"]
                new["tag"] = (source["dogs"] as? [UnsafeSourceObject])?.first?["tag"]
            })
    }

    private static let mappings: [ConformanceCase] = [
        migrationCase("M030.an-attribute-is-kept-by-any-mapping-of-its-entity") { harness, check in
            for person in [
                people { source, create in create()["name"] = source["name"] },
                Mapped.Mapping.copyEntity(sourceEntity: "Person", destinationEntity: "Person"),
                people { source, create in create().copyAttributes(from: source) },
            ] {
                let scene = try split(person) { source, create in create()["iban"] = source["iban"] }
                try scene.run(harness, fill: fillPeople) { scratch in
                    check.equal(try values(scratch, "Person", "name"), [[.string("Ann")]], "people")
                    check.equal(try values(scratch, "Account", "iban", "name"), [[.string("DE1"), .null]], "accounts")
                }
            }
        },
        migrationCase("M030.an-attribute-is-kept-where-it-is-read-from-related-objects") { harness, check in
            func fill(_ scratch: Scratch) throws {
                try scratch.insert("Dog", [["name": .string("Rex"), "tag": .string("T1")]])
                try scratch.insert("Man", [["name": .string("Bob")]])
            }
            let scene = try tags()
            try scene.run(
                harness,
                fill: { scratch in
                    try fill(scratch)
                    try scratch.connect("Dog", "owner", [1: [1]])
                }
            ) { scratch in
                check.equal(try values(scratch, "Dog", "name", "tag"), [[.string("Rex"), .null]], "dogs")
                check.equal(try values(scratch, "Man", "name", "tag"), [[.string("Bob"), .string("T1")]], "men")
            }
            // No man has a dog, so that no tag is read.
            try scene.refuse(harness, check, .dataLossRefused, "tags that are not read", says: "[\"Dog.tag\"]", fill: fill)
        },
        migrationCase("M030.an-attribute-that-no-mapping-keeps-is-refused-once") { harness, check in
            let scene = try split(people { _, create in _ = create() }) { source, create in create()["iban"] = source["iban"] }
            try scene.refuse(harness, check, .dataLossRefused, "names", says: "acceptedLosses: [\"Person.name\"]", fill: fillPeople)
            for path in ["Person.name", "Account.name"] {
                var accepted = scene
                accepted.losses = [path]
                try accepted.run(harness, fill: fillPeople) { scratch in
                    check.equal(try values(scratch, "Account", "iban", "name"), [[.string("DE1"), .null]], path)
                }
            }
            let both = try split(people { _, create in _ = create() }) { _, create in _ = create() }
            try both.refuse(harness, check, .dataLossRefused, "both", says: "[\"Account.iban\", \"Person.name\"]", fill: fillPeople)
            // There is nothing to read, and nothing to lose.
            try both.run(harness, fill: { _ in }) { check.equal(try $0.keys(ObjectRequest("Person")), [], "no people") }
            try both.run(harness, fill: { try $0.insert("Person", [[:]]) }) {
                check.equal(try $0.keys(ObjectRequest("Person")), [1], "no values")
            }
        },
    ]

    // MARK: Stages

    /// Returns a scene whose transformer leaves out the name and the level of a note, with a stage.
    private static func notes(before: MigrationStage.Work? = nil, after: MigrationStage.Work? = nil) throws -> MigrationScene {
        let kept = texts("name") + [Attribute("level", .int64, defaultValue: .int(7))]
        var scene = try Mapped.scene(
            [Entity("Note", attributes: kept)], [Entity("Note", attributes: kept + texts("text"))],
            .transformEntity(sourceEntity: "Note", destinationEntity: "Note") { _, create in create()["text"] = "new" })
        scene.stages = [MigrationStage(from: "V1", to: "V2", preMigration: before, postMigration: after)]
        return scene
    }

    private static func fillNotes(_ scratch: Scratch) throws {
        try scratch.insert("Note", [["name": .string("a"), "level": .int(1)], ["name": .string("b"), "level": .int(2)]])
    }

    /// Returns work that assigns values to each note.
    private static func assigning(_ values: [String: Value]) -> MigrationStage.Work {
        { context in
            try context.perform { transaction in
                for note in try transaction.fetchAll(From<DynamicObject>(entity: "Note")) {
                    for (name, value) in values { try note.setValue(value, for: name) }
                }
            }
        }
    }

    private static let stages: [ConformanceCase] = [
        migrationCase("M030.a-stage-keeps-only-what-it-assigns-afterwards") { harness, check in
            let both = "[\"Note.name\", \"Note.level\"]"
            let nothing: MigrationStage.Work = { _ in },
                creating: MigrationStage.Work = { context in
                    try context.perform { transaction in
                        let note = try transaction.create(Into<DynamicObject>(entity: "Note"))
                        try note.setValue(.string("c"), for: "name")
                        try note.setValue(.int(3), for: "level")
                    }
                }
            try notes(after: nothing).refuse(harness, check, .dataLossRefused, "after", says: both, fill: fillNotes)
            try notes(before: nothing).refuse(harness, check, .dataLossRefused, "before", says: both, fill: fillNotes)
            try notes(before: nothing, after: nothing).refuse(harness, check, .dataLossRefused, "nothing", says: both, fill: fillNotes)
            try notes(after: creating).refuse(harness, check, .dataLossRefused, "other objects", says: both, fill: fillNotes)
            try notes(after: assigning(["name": .string("c")])).refuse(
                harness, check, .dataLossRefused, "one of two", says: "[\"Note.level\"]", fill: fillNotes)
            let kept = try notes(after: assigning(["name": .string("c"), "level": .int(3)]))
            try kept.run(harness, fill: fillNotes) { scratch in
                let row: [Value?] = [.string("c"), .int(3), .string("new")]
                check.equal(try values(scratch, "Note", "name", "level", "text"), [row, row], "assigned")
            }
        },
        migrationCase("M030.a-loss-is-accepted-by-name-or-made-before-the-step") { harness, check in
            let lost: [Value?] = [.null, .int(7), .string("new")]
            var accepted = try notes(after: { _ in })
            accepted.losses = ["Note.name", "Note.level"]
            try accepted.run(harness, fill: fillNotes) { scratch in
                check.equal(try values(scratch, "Note", "name", "level", "text"), [lost, lost], "accepted")
            }
            var cleared = try notes(before: assigning(["name": .null]), after: { _ in })
            cleared.losses = ["Note.level"]
            try cleared.run(harness, fill: fillNotes) { scratch in
                check.equal(try values(scratch, "Note", "name", "level", "text"), [lost, lost], "cleared")
            }
        },
    ]
}
