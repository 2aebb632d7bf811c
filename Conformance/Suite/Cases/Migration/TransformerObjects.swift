internal import Foundation
internal import Polystore

/// Cases about attributes and objects that a transformer takes from elsewhere: from another entity or version, or from an earlier call.
enum TransformerObjects {
    static let all: [ConformanceCase] = attributes + copies + references + lifetimes

    private typealias Mapped = MappedMigrations

    private static func migrationCase(
        _ id: String, _ body: @escaping @Sendable (StoreHarness, Check) throws -> Void
    ) -> ConformanceCase { ConformanceCase(id, clause: "M6", needs: [.migrations], body) }

    private static func texts(_ names: String...) -> [Attribute] { names.map { Attribute($0, .string, isOptional: true) } }

    /// Returns a scene in which one entity has a transformer.
    private static func scene(
        _ before: [Entity], _ after: [Entity], _ entity: String, _ transformer: @escaping CustomSchemaMappingProvider.Transformer
    ) throws -> MigrationScene {
        try Mapped.scene(before, after, .transformEntity(sourceEntity: entity, destinationEntity: entity, transformer: transformer))
    }

    // MARK: Attributes

    private static let person = Entity("Person", attributes: texts("name", "iban"))

    private static func fillPerson(_ scratch: Scratch) throws {
        try scratch.insert("Person", [["name": .string("Ann"), "iban": .string("DE1")]])
    }

    private static let attributes: [ConformanceCase] = [
        migrationCase("M029.an-attribute-of-another-version-stands-for-its-name") { harness, check in
            let after = Entity("Person", attributes: texts("iban", "name", "note"))
            let old = try scene([person], [after], "Person") { source, create in
                let new = create()
                for attribute in source.attributes { new[attribute] = source[attribute] }
                for attribute in source.attributes where new[attribute] != source[attribute] { new["note"] = attribute.name }
            }
            let new = try scene([person], [after], "Person") { source, create in
                let new = create()
                new.enumerateAttributes { attribute, origin in if origin != nil { new[attribute] = source[attribute] } }
            }
            for (scene, what) in [(old, "of the older version"), (new, "of the newer version")] {
                try scene.run(harness, fill: fillPerson) { scratch in
                    check.equal(
                        try scratch.fetch(ObjectRequest("Person")).map(\.values),
                        [["iban": .string("DE1"), "name": .string("Ann"), "note": .null]], what)
                }
            }
        },
        migrationCase("M029.an-attribute-of-another-entity-stands-for-its-name") { harness, check in
            let dog = Entity("Dog", attributes: texts("tag", "name"), relationships: [Relationship("owner", to: "Man")])
            let man = Entity("Man", attributes: texts("name"))
            var after = dog
            after.attributes += texts("note")
            let scene = try scene([dog, man], [after, man], "Dog") { source, create in
                let new = create()
                new.copyAttributes(from: source)
                for attribute in source.attributes where attribute.name == "name" {
                    new["note"] = (source["owner"] as? UnsafeSourceObject)?[attribute]
                }
            }
            try scene.run(
                harness,
                fill: { scratch in
                    try scratch.insert("Dog", [["tag": .string("T"), "name": .string("Rex")]])
                    try scratch.insert("Man", [["name": .string("Bob")]])
                    try scratch.connect("Dog", "owner", [1: [1]])
                }
            ) { check.equal(try $0.fetch(ObjectRequest("Dog")).map { $0.values["note"] }, [.string("Bob")], "note") }
        },
        migrationCase("M029.an-attribute-that-an-object-lacks-undoes-the-step") { harness, check in
            let writing = try scene([person], [Entity("Person", attributes: texts("iban"))], "Person") { source, create in
                let new = create()
                for attribute in source.attributes { new[attribute] = source[attribute] }
            }
            try writing.refuse(harness, check, .invalidPredicate, "writing", says: "no property \"name\"", fill: fillPerson)
            let after = Entity("Person", attributes: texts("iban", "name", "note"))
            let reading = try scene([person], [after], "Person") { source, create in
                let new = create()
                new.enumerateAttributes { attribute, _ in new[attribute] = source[attribute] }
            }
            try reading.refuse(harness, check, .invalidPredicate, "reading", says: "no property \"note\"", fill: fillPerson)
            let related = Entity("Person", attributes: texts("name"), relationships: [Relationship("iban", to: "Person")])
            let linking = try scene([person], [related], "Person") { source, create in
                let new = create()
                for attribute in source.attributes { new[attribute] = source[attribute] }
            }
            try linking.refuse(harness, check, .invalidPredicate, "a relationship", says: "Person.iban is a relationship", fill: fillPerson)
            let unknown = try scene([person], [after], "Person") { source, create in
                let new = create()
                new.copyAttributes(from: source)
                new["note"] = new["nmae"]
            }
            try unknown.refuse(harness, check, .invalidPredicate, "reading what is new", says: "\"name\"", fill: fillPerson)
        },
    ]

    // MARK: Copies

    private static let copies: [ConformanceCase] = [
        migrationCase("M029.attributes-are-copied-from-objects-of-the-mapped-entity") { harness, check in
            let house = Entity("House", attributes: [Attribute("number", .int64, isOptional: true)])
            let person = Entity(
                "Person", attributes: texts("name", "mail"),
                relationships: [Relationship("friend", to: "Person"), Relationship("home", to: "House")])
            let employee = Entity("Employee", parent: "Person", attributes: texts("desk"))
            var after = person
            after.attributes += texts("note")
            func copying(_ relationship: String) throws -> MigrationScene {
                try scene([person, employee, house], [after, employee, house], "Person") { source, create in
                    let new = create()
                    new.copyAttributes(from: source)
                    if let other = source[relationship] as? UnsafeSourceObject { new.copyAttributes(from: other) }
                }
            }
            func fill(_ scratch: Scratch) throws {
                try scratch.insert("House", [["number": .int(7)]])
                try scratch.insert(
                    "Person", [["name": .string("Ann"), "mail": .string("a@x")], ["name": .string("Bob"), "mail": .string("b@x")]])
                try scratch.insert("Employee", [["name": .string("Cid"), "mail": .string("c@x")]])
                try scratch.connect("Person", "friend", [1: [3], 2: [1]])
                try scratch.connect("Person", "home", [2: [1]])
            }
            try copying("friend").run(harness, fill: fill) { scratch in
                let people = try scratch.fetch(ObjectRequest("Person"))
                check.equal(people.map { $0.values["name"] }, [.string("Cid"), .string("Ann"), .string("Cid")], "names")
                check.equal(people.map { $0.values["mail"] }, [.string("c@x"), .string("a@x"), .string("c@x")], "mails")
            }
            try copying("home").refuse(harness, check, .validationFailed, "of another entity", keys: [2], says: "House", fill: fill)
        }
    ]

    // MARK: References

    private static func dogs(_ transformer: @escaping CustomSchemaMappingProvider.Transformer) throws -> MigrationScene {
        let man = Entity(
            "Man", attributes: texts("name"), relationships: [Relationship("dogs", to: "Dog", .toMany, inverse: "owner")])
        let dog = Entity(
            "Dog", attributes: texts("name"),
            relationships: [
                Relationship("owner", to: "Man", inverse: "dogs"), Relationship("mate", to: "Dog"), Relationship("aunt", to: "Woman"),
                Relationship("toy", to: "Toy"),
            ])
        var after = dog
        after.relationships.removeLast()
        let woman = Entity("Woman", parent: "Man")
        return try Mapped.scene(
            [man, woman, dog, Entity("Toy")], [man, woman, after], .deleteEntity(sourceEntity: "Toy"),
            .transformEntity(sourceEntity: "Dog", destinationEntity: "Dog", transformer: transformer))
    }

    private static func fillDogs(_ scratch: Scratch) throws {
        try Mapped.insert(scratch, "Man", "Bob", "Cid")
        try Mapped.insert(scratch, "Woman", "Ann")
        try Mapped.insert(scratch, "Dog", "Rex", "Ace")
        try scratch.insert("Toy", [[:]])
        try scratch.connect("Dog", "owner", [1: [2]])
        try scratch.connect("Dog", "mate", [1: [2]])
        try scratch.connect("Dog", "aunt", [1: [3]])
        try scratch.connect("Dog", "toy", [1: [1]])
    }

    private static let references: [ConformanceCase] = [
        migrationCase("M029.an-object-of-another-entity-undoes-the-step") { harness, check in
            for name in ["mate", "toy"] {
                let scene = try dogs { source, create in
                    let new = create()
                    new.copyAttributes(from: source)
                    if let other = source[name] { new["owner"] = other }
                }
                try scene.refuse(harness, check, .validationFailed, name, keys: [1], says: "must be an object of Man", fill: fillDogs)
            }
            let itself = try dogs { source, create in
                let new = create()
                new.copyAttributes(from: source)
                new["owner"] = new
            }
            try itself.refuse(harness, check, .validationFailed, "itself", says: "must be an object of Man", fill: fillDogs)
        },
        migrationCase("M029.an-object-of-a-child-entity-is-assigned") { harness, check in
            let scene = try dogs { source, create in
                let new = create()
                new.copyAttributes(from: source)
                if let aunt = source["aunt"] { new["owner"] = aunt }
                new["mate"] = new
            }
            try scene.run(harness, fill: fillDogs) { scratch in
                check.equal(try Mapped.names(scratch, "Dog", "owner"), ["Rex": ["Ann"]], "owner")
                check.equal(try Mapped.names(scratch, "Dog", "mate"), ["Rex": ["Rex"], "Ace": ["Ace"]], "mate")
            }
        },
        migrationCase("M029.an-object-is-what-its-entity-becomes") { harness, check in
            // Left has the keys of the pairs, and the objects of Right have new ones.
            func pairs(_ name: String) throws -> MigrationScene {
                try Mapped.scene(
                    [Mapped.named("Pair"), Mapped.named("Holder", [Relationship("pair", to: "Pair")])],
                    [
                        Mapped.named("Half"), Mapped.named("Left", parent: "Half"), Mapped.named("Right", parent: "Half"),
                        Mapped.named("Holder", [Relationship("left", to: "Left"), Relationship("right", to: "Right")]),
                    ], .copyEntity(sourceEntity: "Pair", destinationEntity: "Left"),
                    .copyEntity(sourceEntity: "Pair", destinationEntity: "Right"),
                    .transformEntity(sourceEntity: "Holder", destinationEntity: "Holder") { source, create in
                        let new = create()
                        new.copyAttributes(from: source)
                        new[name] = source["pair"]
                    })
            }
            func fill(_ scratch: Scratch) throws {
                try Mapped.insert(scratch, "Pair", "a", "b")
                try Mapped.insert(scratch, "Holder", "h")
                try scratch.connect("Holder", "pair", [1: [2]])
            }
            try pairs("left").run(harness, fill: fill) { check.equal(try $0.members("Holder", "left"), [1: [2]], "left") }
            try pairs("right").refuse(harness, check, .validationFailed, "right", keys: [1], says: "must be an object of Right", fill: fill)
        },
    ]

    // MARK: Lifetimes

    /// What a program keeps of an earlier call. It is used by one thread.
    private final class Kept: @unchecked Sendable {
        var source: UnsafeSourceObject?
        var related: UnsafeSourceObject?
        var new: UnsafeDestinationObject?
    }

    /// Returns a scene of notes whose transformer keeps the objects of the first note, and calls `use` with those of the second.
    private static func notes(
        _ kept: Kept, _ use: @escaping @Sendable (UnsafeDestinationObject) throws -> Void
    ) throws -> MigrationScene {
        let note = Entity("Note", attributes: texts("name"), relationships: [Relationship("next", to: "Note")])
        var after = note
        after.relationships.append(Relationship("previous", to: "Note"))
        return try scene([note], [after], "Note") { source, create in
            let new = create()
            new.copyAttributes(from: source)
            if source.key == 1 {
                (kept.source, kept.related, kept.new) = (source, source["next"] as? UnsafeSourceObject, new)
            } else {
                try use(new)
            }
        }
    }

    private static func fillNotes(_ scratch: Scratch) throws {
        try Mapped.insert(scratch, "Note", "a", "b")
        try scratch.connect("Note", "next", [1: [2], 2: [1]])
    }

    private static let lifetimes: [ConformanceCase] = [
        migrationCase("M029.an-object-of-an-earlier-call-undoes-the-step") { harness, check in
            let uses: [(String, @Sendable (Kept, UnsafeDestinationObject) -> Void)] = [
                ("a name", { kept, new in new["name"] = kept.source?["name"] }),
                ("an attribute", { kept, _ in if let old = kept.source { for attribute in old.attributes { _ = old[attribute] } } }),
                ("a relationship", { kept, _ in _ = kept.source?["next"] }),
                ("a related object", { kept, new in new["name"] = kept.related?["name"] }),
                ("a relationship of a related object", { kept, new in _ = kept.related?["next"] }),
                ("a copy", { kept, new in if let old = kept.source { new.copyAttributes(from: old) } }),
                ("a copy to it", { kept, new in if let old = kept.source { kept.new?.copyAttributes(from: old) } }),
                ("writing", { kept, _ in kept.new?["name"] = "c" }), ("reading", { kept, _ in _ = kept.new?["name"] }),
                ("a new relationship", { kept, new in kept.new?["previous"] = new }),
            ]
            for (what, use) in uses {
                let kept = Kept()
                let scene = try notes(kept) { use(kept, $0) }
                try scene.refuse(harness, check, .storeClosed, what, says: "object of Note", fill: fillNotes)
            }
        },
        migrationCase("M029.an-object-of-an-earlier-call-is-assigned") { harness, check in
            for isNew in [false, true] {
                let kept = Kept()
                let scene = try notes(kept) { new in if isNew { new["previous"] = kept.new } else { new["previous"] = kept.source } }
                try scene.run(harness, fill: fillNotes) { check.equal(try $0.members("Note", "previous"), [2: [1]], "new: \(isNew)") }
                check.equal(kept.source?.key, 1, "the key of the one that was kept")
            }
        },
        migrationCase("M029.an-object-that-is-used-after-its-step-is-empty") { harness, check in
            struct Mishap: Error {}
            let kept = Kept(), failing = try notes(kept) { _ in throw Mishap() }
            try failing.refuse(harness, check, .validationFailed, "an error of its own", fill: fillNotes)
            kept.new?["name"] = "c"
            check.isTrue(kept.source?["name"] == nil && kept.source?["next"] == nil && kept.new?["name"] == nil, "values")
            check.equal(kept.source?.entityName, "Note", "entity")
            var later = try notes(kept) { _ in }
            later.stages = [MigrationStage(from: "V1", to: "V2", postMigration: { _ in _ = kept.source?["name"] })]
            try later.refuse(harness, check, .storeClosed, "in a stage", says: "object of Note", fill: fillNotes)
        },
    ]
}
