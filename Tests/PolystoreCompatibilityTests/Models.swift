import Foundation
import PolystoreCompatibility

// CoreStore 4's sample model, with the fields that its other samples use.

class Animal: CoreStoreObject {
    let species = Value.Required<String>("species")
}

class Dog: Animal {
    let nickname = Value.Optional<String>("nickname")
    let age = Value.Required<Int>("age")
    let master = Relationship.ToOne<Master>("master")
}

class Master: CoreStoreObject {
    let name = Value.Required<String>("name")
    let pets = Relationship.ToManyUnordered<Dog>("pets", inverse: { $0.master })
    let walks = Relationship.ToManyOrdered<Walk>("walks", inverse: { $0.master }, deleteRule: .cascade)
    let notes = Transformable.Optional<[String]>("notes")
}

class Walk: CoreStoreObject {
    let meters = Value.Required<Int>("meters", initial: 100)
    let master = Relationship.ToOne<Master>("master")
}

enum Mood: String, AttributeValue, CaseIterable { case calm, lively }

struct Address: Codable, Equatable {
    var street: String
    var city: String
}

// The same in the form of CoreStore 7 and later, in a version of its own.
enum V2 {
    class Creature: CoreStoreObject {
        @Field.Stored("species") var species: String = ""
    }

    class Cat: Creature {
        @Field.Stored("id", dynamicInitialValue: { UUID() }) var id: UUID
        @Field.Stored("nickname") var nickname: String?
        @Field.Stored("age") var age: Int = 0
        @Field.Stored("mood") var mood: Mood = .calm
        @Field.Stored(
            "weight", customGetter: { _, field in max(field.primitiveValue ?? 0, 0) },
            customSetter: { _, field, newValue in field.primitiveValue = newValue.rounded() })
        var weight: Double = 1
        @Field.Virtual("title", customGetter: { object, _ in "\(object.$species.value) \(object.$nickname.value ?? "?")" })
        var title: String
        @Field.Coded("home", coder: FieldCoders.Json.self) var home: Address? = nil
        @Field.Coded(
            "tags",
            coder: (
                encode: { Data($0.joined(separator: ",").utf8) },
                decode: { data in data.map { String(decoding: $0, as: UTF8.self).split(separator: ",").map(String.init) } }
            ))
        var tags: [String] = []
        @Field.Relationship("keeper") var keeper: Keeper?
    }

    class Keeper: CoreStoreObject {
        @Field.Stored("name") var name: String = ""
        @Field.Relationship("cats", inverse: \.$keeper, deleteRule: .cascade) var cats: Set<Cat>
        @Field.Relationship("favorites", maxCount: 2) var favorites: [Cat]
    }

    static func schema(lock: VersionLock? = nil) throws -> CoreStoreSchema {
        try CoreStoreSchema(
            modelVersion: "V2",
            entities: [
                Entity<Creature>("Creature", isAbstract: true),
                Entity<Cat>("Cat", indexes: [[\.$age]], uniqueConstraints: [[\.$id]]),
                Entity<Keeper>("Keeper"),
            ],
            versionLock: lock)
    }
}

func makeStack() throws -> DataStack {
    try DataStack(
        CoreStoreSchema(
            modelVersion: "V1",
            entities: [
                Entity<Animal>("Animal", isAbstract: true),
                Entity<Dog>("Dog"),
                Entity<Master>("Person"),
                Entity<Walk>("Walk"),
            ]
        )
    )
}
