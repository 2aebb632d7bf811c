internal import Foundation
internal import Polystore

/// Cases about relationships and hierarchies while two versions of the model are live.
enum RollingRelationships {
    private static func shop(_ version: String, _ isNew: Bool) throws -> Schema {
        let owner = Relationship("owner", to: isNew ? "Human" : "Person", inverse: "pets")
        let person = Entity(
            isNew ? "Human" : "Person", attributes: [Attribute("name", .string)],
            relationships: [Relationship("pets", to: "Pet", .toMany, inverse: "owner")]
                + (isNew
                    ? [Relationship("tags", to: "Tag", .toMany, inverse: "people")] : [Relationship("friends", to: "Person", .toMany)]),
            originalName: isNew ? "Person" : nil)
        let pet = Entity(
            "Pet", attributes: [Attribute("name", .string)],
            relationships: [owner, isNew ? Relationship("vet", to: "Human") : Relationship("breeder", to: "Person")])
        let tag = Entity(
            "Tag", attributes: [Attribute("text", .string)],
            relationships: [Relationship("people", to: "Human", .toMany, inverse: "tags")])
        let letter = Entity("Letter", relationships: [Relationship("from", to: "Person")])
        return try Schema(version: version, entities: isNew ? [person, pet, tag] : [person, pet, letter])
    }

    static let all: [ConformanceCase] = [
        RollingCases.rollingCase("M028.abandoned-after-writes-before-the-backfill", "M14") { harness, check in
            let before = try shop("V1", false), after = try shop("V2", true)
            try RollingScene.run(
                harness, before, after,
                fill: { old in
                    try old.insert("Person", ["Ann", "Bob", "Cid"].map { ["name": .string($0)] })
                    try old.insert("Pet", [["name": .string("Rex"), "owner": .int(1), "breeder": .int(2)]])
                    try old.insert("Letter", [["from": .int(2)], ["from": .int(3)]])
                    try old.connect("Person", "friends", [1: [2, 3], 2: [1]])
                }
            ) { scene in
                let old = scene.old, token = try old.token()
                for round in 0..<2 {
                    try scene.expand()
                    let dan = try old.insert("Person", [["name": .string("Dan")]])[0]
                    try old.insert("Pet", [["name": .string("Tom"), "owner": .int(dan), "breeder": .int(1)]])
                    try old.update("Person", 1, ["name": .string("Anna\(round)")])
                    try old.connect("Person", "friends", [dan: [1]])
                    if round == 0 { try old.delete("Letter", [1]) }
                    try scene.phases.abandon(timeout: 10)
                    check.isTrue(try scene.phases.current() == nil, "no step is under way")
                    check.throwing(.schemaMismatch, "the newer version") { _ = try Scratch(beside: old, after) }
                    try Integrity.check(old.store, before, check)
                }
                func names(_ names: String...) -> [Value] { names.map { .string($0) } }
                check.equal(try old.values("Person", "name"), names("Anna1", "Bob", "Cid", "Dan", "Dan"), "people")
                check.equal(try old.members("Person", "pets"), [1: [1], 4: [2], 5: [3]], "owners")
                check.equal(try old.members("Person", "friends"), [1: [2, 3], 2: [1], 4: [1], 5: [1]], "friends")
                check.equal(try old.values("Letter", "from"), [.int(3)], "letters")
                check.equal(try old.history(since: token).count, 9, "the history goes on")
                // What is written afterwards is written as before, and the step can be taken.
                try old.delete("Person", [4])
                try old.update("Pet", 2, ["name": .string("Tim"), "owner": .int(5)])
                let next = try scene.begin()
                defer { try? next.store.close() }
                check.equal(try next.values("Human", "name"), names("Anna1", "Bob", "Cid", "Dan"), "people of the newer version")
                check.equal(try next.members("Human", "pets"), [1: [1], 5: [2, 3]], "owners of the newer version")
                try scene.phases.contract(acceptingLosses: ["Letter", "Person.friends", "Pet.breeder"], timeout: 10)
                try Integrity.check(next.store, after, check)
            }
        },
        RollingCases.rollingCase("M023.relationships-entities-and-what-only-one-version-knows", "M12") { harness, check in
            let before = try shop("V1", false), after = try shop("V2", true)
            try RollingScene.run(
                harness, before, after,
                fill: { old in
                    try old.insert("Person", [["name": .string("Ann")], ["name": .string("Bob")], ["name": .string("Cid")]])
                    try old.insert("Pet", [["name": .string("Rex"), "owner": .int(1), "breeder": .int(2)]])
                    try old.insert("Letter", [["from": .int(2)]])
                    try old.connect("Person", "friends", [1: [2, 3], 2: [1]])
                }
            ) { scene in
                let next = try scene.begin()
                defer { try? next.store.close() }
                check.equal(try next.members("Human", "pets"), [1: [1]], "a relationship that stays")
                let tag = try next.insert("Tag", [["text": .string("nice")]])[0]
                try next.connect("Human", "tags", [1: [tag], 2: [tag]])
                try next.update("Pet", 1, ["vet": .int(3)])
                let pet = try next.insert("Pet", [["name": .string("Tom"), "owner": .int(3), "vet": .int(1)]])[0]
                check.equal(try scene.old.members("Person", "pets"), [1: [1], 3: [pet]], "as the older version sees it")
                check.equal(try scene.old.values("Pet", "breeder"), [.int(2), .null], "data of the older version alone")

                // The newer version deletes an object to which only the older one still refers, and vice versa.
                try next.write { writer in
                    try writer.apply(
                        ChangeSet(
                            entities: [EntityChanges(entity: try next.entity("Human"), deletes: [RowDeletion(key: 2)])],
                            links: [LinkChanges(link: 0, removed: [LinkPair(owner: 2, rank: 0, member: tag)])]))
                }
                check.equal(try scene.old.values("Pet", "breeder"), [.null, .null], "a reference to a deleted object")
                check.equal(try scene.old.values("Letter", "from"), [.null], "one in an entity that the newer version has not")
                check.equal(try scene.old.members("Person", "friends"), [1: [3]], "pairs with it")
                try scene.old.update("Pet", pet, ["owner": .null])
                try scene.old.delete("Person", [3])
                check.equal(try next.values("Pet", "vet"), [.null, .int(1)], "a reference that only the newer version has")
                try scene.old.update("Pet", 1, ["owner": .null])
                try scene.old.write { writer in
                    try writer.apply(
                        ChangeSet(
                            entities: [EntityChanges(entity: try scene.old.entity("Person"), deletes: [RowDeletion(key: 1)])],
                            links: [LinkChanges(link: 0, removed: [LinkPair(owner: 1, rank: 0, member: 3)])]))
                }
                check.equal(try next.members("Human", "tags"), [:], "pairs that only the newer version has")
                try Integrity.check(next.store, after, check)
                try Integrity.check(scene.old.store, before, check)

                try scene.phases.contract(acceptingLosses: ["Letter", "Person.friends", "Human.friends", "Pet.breeder"], timeout: 10)
                try Integrity.check(next.store, after, check)
                check.equal(try next.values("Tag", "text"), [.string("nice")], "a new entity")
                check.equal(try next.insert("Human", [["name": .string("Dan")]]).count, 1, "all programs continue")
            }
        },
        RollingCases.rollingCase("M023.hierarchies", "M12") { harness, check in
            func schema(_ version: String, dog: [Attribute], cat: [Attribute]) throws -> Schema {
                try Schema(
                    version: version,
                    entities: [
                        Entity("Animal", isAbstract: true, attributes: [Attribute("age", version == "V1" ? .int16 : .int32)]),
                        Entity("Dog", parent: "Animal", attributes: dog), Entity("Cat", parent: "Animal", attributes: cat),
                    ])
            }
            let before = try schema(
                "V1", dog: [Attribute("bark", .string, isOptional: true)], cat: [Attribute("fur", .int16, defaultValue: .int(4))])
            let after = try schema(
                "V2", dog: [Attribute("bark", .string, defaultValue: .string("wow")), Attribute("legs", .int16, defaultValue: .int(4))],
                cat: [])
            try RollingScene.run(
                harness, before, after,
                fill: { old in
                    try old.insert("Dog", [["age": .int(1)], ["age": .int(2), "bark": .string("hm")]])
                    try old.insert("Cat", [["age": .int(3), "fur": .int(5)]])
                }
            ) { scene in
                let next = try scene.begin()
                defer { try? next.store.close() }
                check.equal(try next.values("Dog", "legs"), [.int(4), .int(4)], "of one entity of the hierarchy")
                check.equal(try next.values("Dog", "bark"), [.string("wow"), .string("hm")], "required")
                check.equal(try next.values("Animal", "age"), [.int(1), .int(2), .int(3)], "wider")
                try scene.old.insert("Dog", [["age": .int(4)]])
                try next.insert("Cat", [["age": .int(5)]])
                check.equal(try next.values("Dog", "legs"), [.int(4), .int(4), .int(4)], "of a new object of the older version")
                check.equal(try next.values("Dog", "bark").last, .string("wow"), "and the property that it lacks")
                check.equal(try scene.old.values("Cat", "fur"), [.int(5), .int(4)], "of a new object of the newer version")
                try scene.phases.contract(acceptingLosses: ["Cat.fur"], timeout: 10)
                check.equal(try next.values("Animal", "age"), (1...5).map { .int($0) }, "afterwards")
            }
        },
    ]
}
