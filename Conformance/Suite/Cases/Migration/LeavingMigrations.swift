internal import Polystore

/// Cases about objects that a program does not migrate, and mappings that do not fit.
enum LeavingMigrations {
    static let all: [ConformanceCase] = leaving + mistakes

    private typealias Mapped = MappedMigrations

    private static func migrationCase(
        _ id: String, _ body: @escaping @Sendable (StoreHarness, Check) throws -> Void
    ) -> ConformanceCase { ConformanceCase(id, clause: "M4", needs: [.migrations], body) }

    private static let leaving: [ConformanceCase] = [
        migrationCase("M007.references-to-what-is-left-behind-become-nil") { harness, check in
            let person = Mapped.named(
                "Person",
                [
                    Relationship("pet", to: "Animal"), Relationship("pets", to: "Animal", .toMany),
                    Relationship("list", to: "Animal", .toManyOrdered, inverse: "lists"),
                ])
            let animal = Mapped.named("Animal", [Relationship("lists", to: "Person", .toMany, inverse: "list")])
            let scene = try Mapped.scene(
                [person, animal, Mapped.named("Dog", parent: "Animal"), Mapped.named("Cat", parent: "Animal")],
                [person, animal, Mapped.named("Dog", parent: "Animal")], .deleteEntity(sourceEntity: "Cat"))
            try scene.run(
                harness,
                fill: { scratch in
                    try Mapped.insert(scratch, "Person", "Ann", "Bob")
                    try Mapped.insert(scratch, "Dog", "Rex")
                    try Mapped.insert(scratch, "Cat", "Mia", "Tom")
                    try scratch.connect("Person", "pet", [1: [2], 2: [1]])
                    try scratch.connect("Person", "pets", [1: [1, 2, 3]])
                    try scratch.connect("Person", "list", [2: [3, 1, 2]])
                }
            ) { scratch in
                check.equal(try scratch.fetch(ObjectRequest("Animal")).map(\.key), [1], "animals")
                check.equal(try scratch.members("Person", "pet"), [2: [1]], "pet")
                check.equal(try scratch.members("Person", "pets"), [1: [1]], "pets")
                check.equal(try scratch.members("Animal", "lists"), [1: [2]], "lists")
            }
        },
        migrationCase("M007.a-required-reference-to-what-is-left-behind-refuses-the-step") { harness, check in
            let person = Mapped.named("Person", [Relationship("pet", to: "Animal", isOptional: false)])
            let scene = try Mapped.scene(
                [person, Mapped.named("Animal"), Mapped.named("Cat", parent: "Animal")], [person, Mapped.named("Animal")],
                .deleteEntity(sourceEntity: "Cat"))
            try scene.refuse(harness, check, .validationFailed, "a required reference", keys: [2]) { scratch in
                try Mapped.insert(scratch, "Animal", "It")
                try Mapped.insert(scratch, "Cat", "Mia")
                try scratch.insert("Person", [["name": .string("Ann"), "pet": .int(1)], ["name": .string("Bob"), "pet": .int(2)]])
            }
        },
        migrationCase("M007.an-entity-is-recreated-under-its-name") { harness, check in
            for isOptional in [true, false] {
                let person = Mapped.named(
                    "Person", [Relationship("pet", to: "Dog", isOptional: isOptional), Relationship("pets", to: "Dog", .toMany)])
                let scene = try Mapped.scene(
                    [person, Mapped.named("Dog")], [person, Mapped.named("Dog")], .deleteEntity(sourceEntity: "Dog"),
                    .insertEntity(destinationEntity: "Dog"))
                func fill(_ scratch: Scratch) throws {
                    try Mapped.insert(scratch, "Dog", "Rex", "Fido")
                    try scratch.insert("Person", [["name": .string("Ann"), "pet": .int(2)]])
                    try scratch.connect("Person", "pets", [1: [1, 2]])
                }
                // The two versions store the same data, so that programs of both use the store, and its rows stay where they are.
                try scene.refuse(harness, check, .invalidConfiguration, "versions that are stored alike") { try fill($0) }
                let changed = try Mapped.scene(
                    [person, Mapped.named("Dog")], [person, Entity("Dog", attributes: [Attribute("age", .int64)])],
                    .deleteEntity(sourceEntity: "Dog"), .insertEntity(destinationEntity: "Dog"))
                if !isOptional {
                    try changed.refuse(harness, check, .validationFailed, "a required reference", keys: [1]) { try fill($0) }
                    continue
                }
                try changed.run(harness, fill: fill) { scratch in
                    check.equal(try scratch.fetch(ObjectRequest("Dog")).count, 0, "dogs")
                    check.equal(try scratch.fetch(ObjectRequest("Person")).map { $0.values["pet"] }, [.null], "pet")
                    check.equal(try scratch.members("Person", "pets"), [:], "pets")
                }
            }
        },
    ]

    private static let mistakes: [ConformanceCase] = [
        migrationCase("M007.a-mapping-that-does-not-fit-is-refused") { harness, check in
            let before = [Mapped.named("Person"), Mapped.named("Animal", isAbstract: true), Mapped.named("Dog", parent: "Animal")]
            let after = before + [Mapped.named("Club")]
            let wrong: [(Mapped.Mapping, StorageError.Code, String)] = [
                (.deleteEntity(sourceEntity: "Persn"), .invalidConfiguration, "\"Person\""),
                (.insertEntity(destinationEntity: "Clob"), .invalidConfiguration, "\"Club\""),
                (.copyEntity(sourceEntity: "Club", destinationEntity: "Club"), .invalidConfiguration, "\"Club\""),
                (.copyEntity(sourceEntity: "Animal", destinationEntity: "Animal"), .invalidConfiguration, "abstract"),
            ]
            for (mapping, code, text) in wrong {
                let scene = try Mapped.scene(before, after, mapping)
                try scene.refuse(harness, check, code, "\(text)", says: text) { try Mapped.insert($0, "Person", "Ann") }
            }
            let both = try Mapped.scene(
                before, after, .deleteEntity(sourceEntity: "Dog"), .copyEntity(sourceEntity: "Dog", destinationEntity: "Dog"))
            try both.refuse(harness, check, .invalidConfiguration, "deleted and copied") { try Mapped.insert($0, "Person", "Ann") }
            let anew = try Mapped.scene(before, after, .insertEntity(destinationEntity: "Person"))
            try anew.refuse(harness, check, .invalidConfiguration, "objects without a mapping", says: "deleteEntity") {
                try Mapped.insert($0, "Person", "Ann")
            }
        },
        migrationCase("M007.a-copied-entity-needs-what-is-required") { harness, check in
            let scene = try Mapped.scene(
                [Mapped.named("Person")],
                [Entity("Person", attributes: [Attribute("name", .string, isOptional: true), Attribute("age", .int64)])],
                .copyEntity(sourceEntity: "Person", destinationEntity: "Person"))
            try scene.refuse(harness, check, .validationFailed, "a required attribute", keys: [1, 2]) {
                try Mapped.insert($0, "Person", "Ann", "Bob")
            }
        },
    ]
}
