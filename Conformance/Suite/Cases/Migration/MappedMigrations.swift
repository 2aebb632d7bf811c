internal import Foundation
internal import Polystore

/// Cases about entities with custom mappings: split, merged, moved.
enum MappedMigrations {
    static let all: [ConformanceCase] = splitting + merging + moving

    typealias Mapping = CustomSchemaMappingProvider.CustomMapping

    static func scene(_ before: [Entity], _ after: [Entity], _ mappings: Mapping...) throws -> MigrationScene {
        var scene = MigrationScene(try Schema(version: "V1", entities: before), try Schema(version: "V2", entities: after))
        scene.providers = [CustomSchemaMappingProvider(from: "V1", to: "V2", entityMappings: mappings)]
        return scene
    }

    static func named(_ name: String, _ relationships: [Relationship] = [], parent: String? = nil, isAbstract: Bool = false) -> Entity {
        Entity(
            name, parent: parent, isAbstract: isAbstract,
            attributes: parent == nil ? [Attribute("name", .string, isOptional: true)] : [], relationships: relationships)
    }

    static func insert(_ scratch: Scratch, _ entity: String, _ names: String...) throws {
        try scratch.insert(entity, names.map { ["name": .string($0)] })
    }

    /// Returns the names of the destinations of a relationship, by the names of its owners.
    static func names(_ scratch: Scratch, _ entity: String, _ relationship: String) throws -> [String: [String]] {
        func table(_ entity: String) throws -> [Int64: String] {
            var names: [Int64: String] = [:]
            for row in try scratch.fetch(ObjectRequest(entity)) {
                if case .string(let name)? = row.values["name"] { names[row.key] = name }
            }
            return names
        }
        let place = scratch.schema[try scratch.entity(entity)].relationship(relationship)
        let owners = try table(entity), members = try table(place.map { scratch.schema.entities[$0.destination].name } ?? "")
        var result: [String: [String]] = [:]
        for (owner, keys) in try scratch.members(entity, relationship) {
            result[owners[owner] ?? "?\(owner)"] = keys.map { members[$0] ?? "?\($0)" }.sorted()
        }
        return result
    }

    private static func migrationCase(
        _ id: String, _ body: @escaping @Sendable (StoreHarness, Check) throws -> Void
    ) -> ConformanceCase { ConformanceCase(id, clause: "M4", needs: [.migrations], body) }

    private static let splitting: [ConformanceCase] = [
        migrationCase("M007.references-to-an-entity-that-is-split-keep-its-name") { harness, check in
            let target = Attribute("target", .string, isOptional: true, crossReference: CrossReference(to: "Person"))
            let note = Entity("Note", attributes: [target]), street = Attribute("street", .string, isOptional: true)
            let scene = try scene(
                [note, Entity("Person", attributes: [street])], [note, Entity("Person"), Entity("Address", attributes: [street])],
                .transformEntity(sourceEntity: "Person", destinationEntity: "Person") { _, create in _ = create() },
                .transformEntity(sourceEntity: "Person", destinationEntity: "Address") { source, create in
                    create().copyAttributes(from: source)
                })
            let reference = Value.string(ObjectKey(store: UUID(), root: "Person", key: 7).description)
            try scene.run(harness, fill: { try $0.insert("Note", [["target": reference], [:]]) }) { scratch in
                check.equal(try scratch.fetch(ObjectRequest("Note")).map { $0.values["target"] }, [reference, .null], "references")
            }
        },
        migrationCase("M007.references-to-an-entity-whose-keys-rise-keep-its-name") { harness, check in
            // The objects of the second entity get other keys where they are stored; another store does not know which.
            func note(_ name: String) -> Entity {
                let target = Attribute("target", .string, isOptional: true, crossReference: CrossReference(to: name))
                return Entity("Note", attributes: [target])
            }
            let scene = try scene(
                [note("Page"), Entity("Leaf"), Entity("Page")], [note("Leaf"), Entity("Leaf")],
                .copyEntity(sourceEntity: "Leaf", destinationEntity: "Leaf"), .copyEntity(sourceEntity: "Page", destinationEntity: "Leaf"))
            let peer = UUID(), references = ["Page", "Leaf"].map { Value.string(ObjectKey(store: peer, root: $0, key: 1).description) }
            try scene.run(harness, fill: { try $0.insert("Note", references.map { ["target": $0] }) }) { scratch in
                check.equal(try scratch.fetch(ObjectRequest("Note")).map { $0.values["target"] }, references, "references")
            }
        },
        migrationCase("M007.an-entity-is-split-in-two") { harness, check in
            let scene = try scene(
                [Entity("Person", attributes: [Attribute("name", .string), Attribute("street", .string, isOptional: true)])],
                [
                    Entity(
                        "Person", attributes: [Attribute("name", .string)],
                        relationships: [Relationship("address", to: "Address", inverse: "person")]),
                    Entity(
                        "Address", attributes: [Attribute("street", .string)],
                        relationships: [Relationship("person", to: "Person", inverse: "address")]),
                ],
                .transformEntity(sourceEntity: "Person", destinationEntity: "Person") { source, create in
                    let person = create()
                    person.copyAttributes(from: source)
                    person["address"] = source
                },
                .transformEntity(sourceEntity: "Person", destinationEntity: "Address") { source, create in
                    // An object without a street gets no address.
                    guard let street = source["street"] else { return }
                    let address = create()
                    address["street"] = street
                    address["person"] = source
                })
            try scene.run(
                harness,
                fill: { scratch in
                    try scratch.insert(
                        "Person",
                        [
                            ["name": .string("Ann"), "street": .string("A")], ["name": .string("Bob")],
                            ["name": .string("Cid"), "street": .string("C")],
                        ])
                }
            ) { scratch in
                check.equal(
                    try scratch.fetch(ObjectRequest("Person")).map { $0.values["name"] }, [.string("Ann"), .string("Bob"), .string("Cid")],
                    "people")
                check.equal(
                    try scratch.fetch(ObjectRequest("Address")).map { $0.values["street"] }, [.string("A"), .string("C")], "addresses")
                check.equal(try scratch.members("Person", "address"), [1: [1], 3: [3]], "address")
                check.equal(try scratch.members("Address", "person"), [1: [1], 3: [3]], "person")
            }
        },
        migrationCase("M007.one-object-becomes-two-of-one-entity") { harness, check in
            let scene = try scene(
                [named("Pair")], [named("Half")],
                .transformEntity(sourceEntity: "Pair", destinationEntity: "Half") { source, create in
                    for side in ["left", "right"] { create()["name"] = "\(source["name"] ?? "") \(side)" }
                })
            try scene.run(harness, fill: { try insert($0, "Pair", "a", "b") }) { scratch in
                let rows = try scratch.fetch(ObjectRequest("Half"))
                check.equal(
                    Set(rows.map { $0.values["name"] }), Set(["a left", "a right", "b left", "b right"].map { Value.string($0) }), "halves")
                check.equal(rows.prefix(2).map { $0.values["name"] }, [.string("a left"), .string("b left")], "the first has the key")
                let key = try scratch.insert("Half", [[:]])[0]
                check.isTrue(rows.allSatisfy { $0.key < key }, "a new key is new")
                try scratch.delete("Half", [key])
            }
        },
    ]

    private static let merging: [ConformanceCase] = [
        migrationCase("M007.two-hierarchies-become-one-and-references-follow") { harness, check in
            let owner = [
                Relationship("cat", to: "Cat"), Relationship("dog", to: "Dog"),
                Relationship("dogs", to: "Dog", .toMany, inverse: "keepers"),
                Relationship("cats", to: "Cat", .toManyOrdered),
            ]
            let keepers = [Relationship("keepers", to: "Person", .toMany, inverse: "dogs"), Relationship("rival", to: "Dog")]
            let scene = try scene(
                [named("Person", owner), named("Cat"), named("Dog", keepers)],
                [
                    named("Person", owner), named("Animal", isAbstract: true), named("Cat", parent: "Animal"),
                    named("Dog", keepers, parent: "Animal"),
                ], .copyEntity(sourceEntity: "Cat", destinationEntity: "Cat"), .copyEntity(sourceEntity: "Dog", destinationEntity: "Dog"))
            try scene.run(
                harness,
                fill: { scratch in
                    try insert(scratch, "Person", "Ann", "Bob")
                    try insert(scratch, "Cat", "Mia", "Tom", "Kit")
                    try insert(scratch, "Dog", "Rex", "Fido")
                    try scratch.connect("Person", "cat", [1: [2]])
                    try scratch.connect("Person", "dog", [1: [2], 2: [1]])
                    try scratch.connect("Person", "dogs", [1: [1, 2], 2: [2]])
                    try scratch.connect("Person", "cats", [2: [3, 1]])
                    try scratch.connect("Dog", "rival", [1: [2]])
                }
            ) { scratch in
                check.equal(
                    Set(try scratch.fetch(ObjectRequest("Animal")).map { "\($0.entity) \($0.values["name"] ?? .null)" }),
                    Set(
                        [("Cat", "Mia"), ("Cat", "Tom"), ("Cat", "Kit"), ("Dog", "Rex"), ("Dog", "Fido")].map {
                            "\($0) \(Value.string($1))"
                        }), "animals")
                check.equal(try names(scratch, "Person", "cat"), ["Ann": ["Tom"]], "cat")
                check.equal(try names(scratch, "Person", "dog"), ["Ann": ["Fido"], "Bob": ["Rex"]], "dog")
                check.equal(try names(scratch, "Person", "dogs"), ["Ann": ["Fido", "Rex"], "Bob": ["Fido"]], "dogs")
                check.equal(try names(scratch, "Dog", "keepers"), ["Fido": ["Ann", "Bob"], "Rex": ["Ann"]], "keepers")
                check.equal(try names(scratch, "Person", "cats"), ["Bob": ["Kit", "Mia"]], "cats")
                check.equal(try names(scratch, "Dog", "rival"), ["Rex": ["Fido"]], "rival")
                let keys = try scratch.keys(ObjectRequest("Animal")), key = try scratch.insert("Cat", [["name": .string("Leo")]])[0]
                check.isTrue(key > keys.max() ?? 0, "a new key is greater than those of both")
                try scratch.delete("Cat", [key])
            }
        },
        migrationCase("M007.two-entities-become-one") { harness, check in
            let scene = try scene(
                [named("Person", [Relationship("cat", to: "Cat"), Relationship("dog", to: "Dog")]), named("Cat"), named("Dog")],
                [
                    named("Person", [Relationship("cat", to: "Pet"), Relationship("dog", to: "Pet")]),
                    Entity("Pet", attributes: [Attribute("name", .string, isOptional: true), Attribute("kind", .string)]),
                ], .copyEntity(sourceEntity: "Person", destinationEntity: "Person"),
                .transformEntity(sourceEntity: "Cat", destinationEntity: "Pet") { source, create in
                    let pet = create()
                    pet.copyAttributes(from: source)
                    pet["kind"] = "cat"
                },
                .transformEntity(sourceEntity: "Dog", destinationEntity: "Pet") { source, create in
                    let pet = create()
                    pet.copyAttributes(from: source)
                    pet["kind"] = source.entityName.lowercased()
                })
            try scene.run(
                harness,
                fill: { scratch in
                    try insert(scratch, "Person", "Ann")
                    try insert(scratch, "Cat", "Mia", "Tom")
                    try insert(scratch, "Dog", "Rex", "Fido")
                    try scratch.connect("Person", "cat", [1: [2]])
                    try scratch.connect("Person", "dog", [1: [1]])
                }
            ) { scratch in
                let pets = try scratch.fetch(ObjectRequest("Pet")).map { "\($0.values["name"] ?? .null) \($0.values["kind"] ?? .null)" }
                let wanted = [("Mia", "cat"), ("Tom", "cat"), ("Rex", "dog"), ("Fido", "dog")].map {
                    "\(Value.string($0)) \(Value.string($1))"
                }
                check.equal(Set(pets), Set(wanted), "pets")
                check.equal(try names(scratch, "Person", "cat"), ["Ann": ["Tom"]], "cat")
                check.equal(try names(scratch, "Person", "dog"), ["Ann": ["Rex"]], "dog")
            }
        },
    ]

    private static let moving: [ConformanceCase] = [
        migrationCase("M007.an-entity-leaves-its-hierarchy") { harness, check in
            let person = named("Person", [Relationship("home", to: "House"), Relationship("seen", to: "House", .toMany)])
            let scene = try scene(
                [person, named("Place"), named("House", parent: "Place")], [person, named("Place"), named("House")],
                .copyEntity(sourceEntity: "House", destinationEntity: "House"))
            try scene.run(
                harness,
                fill: { scratch in
                    try insert(scratch, "Person", "Ann")
                    try insert(scratch, "Place", "Sea")
                    try insert(scratch, "House", "Hut", "Inn")
                    try scratch.connect("Person", "home", [1: [3]])
                    try scratch.connect("Person", "seen", [1: [2, 3]])
                }
            ) { scratch in
                check.equal(try scratch.fetch(ObjectRequest("Place")).map { $0.values["name"] }, [.string("Sea")], "places")
                let houses = try scratch.fetch(ObjectRequest("House")).map { $0.values["name"] }
                check.equal(houses, [.string("Hut"), .string("Inn")], "houses")
                check.equal(try names(scratch, "Person", "home"), ["Ann": ["Inn"]], "home")
                check.equal(try names(scratch, "Person", "seen"), ["Ann": ["Hut", "Inn"]], "seen")
            }
        },
        migrationCase("M007.another-parent-is-for-a-program-to-decide") { harness, check in
            let scene = MigrationScene(
                try Schema(version: "V1", entities: [named("Place"), named("House")]),
                try Schema(version: "V2", entities: [named("Place"), named("House", parent: "Place")]))
            try scene.refuse(harness, check, .noMigrationPath, "a parent") { try insert($0, "House", "Hut") }
        },
        migrationCase("M007.an-entity-becomes-abstract") { harness, check in
            let before = [named("Animal"), named("Dog", parent: "Animal")]
            let after = [named("Animal", isAbstract: true), named("Dog", parent: "Animal")]
            func fill(_ scratch: Scratch) throws {
                try insert(scratch, "Animal", "It")
                try insert(scratch, "Dog", "Rex")
            }
            let undecided = MigrationScene(try Schema(version: "V1", entities: before), try Schema(version: "V2", entities: after))
            try undecided.refuse(harness, check, .noMigrationPath, "its own objects", fill: fill)
            let scene = try scene(before, after, .copyEntity(sourceEntity: "Animal", destinationEntity: "Dog"))
            try scene.run(harness, fill: fill) { scratch in
                check.equal(try scratch.fetch(ObjectRequest("Animal")).map(\.entity), ["Dog", "Dog"], "entities")
                check.equal(try scratch.fetch(ObjectRequest("Dog")).map { $0.values["name"] }, [.string("It"), .string("Rex")], "dogs")
            }
        },
        migrationCase("M007.a-copied-entity-keeps-its-pairs-under-another-name") { harness, check in
            let scene = try scene(
                [named("Dog", [Relationship("friends", to: "Dog", .toMany), Relationship("list", to: "Dog", .toManyOrdered)])],
                [named("Hound", [Relationship("friends", to: "Hound", .toMany), Relationship("list", to: "Hound", .toManyOrdered)])],
                .copyEntity(sourceEntity: "Dog", destinationEntity: "Hound"))
            try scene.run(
                harness,
                fill: { scratch in
                    try insert(scratch, "Dog", "Rex", "Fido", "Ben")
                    try scratch.connect("Dog", "friends", [1: [2, 3]])
                    try scratch.connect("Dog", "list", [2: [3, 1]])
                }
            ) { scratch in
                check.equal(try scratch.members("Hound", "friends"), [1: [2, 3]], "friends")
                check.equal(try scratch.members("Hound", "list"), [2: [3, 1]], "list")
            }
        },
    ]
}
