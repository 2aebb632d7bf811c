import Polystore
import TestStores
import Testing

/// Relationships of objects that are inserted in a batch. Expected values are those of the same objects created one by one.
@Suite struct BatchReferenceTests {
    private func dogs(_ person: Person) -> [String] { person.pets.map(\.name).sorted() }

    @Test(arguments: TestStore.all) func insertedObjectsReferToOthers(_ store: TestStore) throws {
        let stack = try store.stack()
        let id = try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(Person.self)
            ann.name = "Ann"
            try transaction.create(Dog.self).owner = ann
            return ann.objectID
        })
        try stack.perform(synchronous: { transaction in
            let ann = try #require(try transaction.fetchExisting(id))
            #expect(ann.pets.count == 1)
            let ben = try transaction.create(Person.self)
            ben.name = "Ben"
            let owners = [ann, ben, nil]
            let ids = try transaction.insertAll(Into<Dog>(), sources: 0..<9) { dog, number in
                dog.name = "D\(number)"
                dog.owner = owners[number % 3]
                #expect(dog.owner?.objectID == owners[number % 3]?.objectID)
            }
            // Those whose members are known, and those whose members are not.
            #expect(self.dogs(ann) == ["", "D0", "D3", "D6"] && self.dogs(ben) == ["D1", "D4", "D7"])
            #expect(try transaction.fetchExisting(ids[4])?.owner?.name == "Ben")
            #expect(try transaction.fetchCount(From<Dog>().where(\.owner == nil)) == 3)
        })
        let people = try stack.fetchAll(From<Person>().orderBy(.ascending(\.name)))
        #expect(people.map(dogs) == [["", "D0", "D3", "D6"], ["D1", "D4", "D7"]])
        #expect(
            try stack.fetchAll(From<Dog>().where(\.owner?.name == "Ben").orderBy(.ascending(\.name))).map(\.name) == ["D1", "D4", "D7"])
        // The rule of the relationship, which is to delete them, finds them.
        try stack.perform(synchronous: { transaction in
            _ = try transaction.fetchOne(From<Person>().where(\.name == "Ann")).map(transaction.delete)
        })
        #expect(try stack.fetchAll(From<Dog>()).map(\.name).sorted() == ["D1", "D2", "D4", "D5", "D7", "D8"])
    }

    /// A list that follows the relationship of another object has the new members.
    @Test @MainActor func contextsSeeTheNewMembers() async throws {
        let stack = try TestStore.memory.stack()
        let id = try await stack.perform { try $0.create(Person.self).objectID }
        let ann = try #require(try stack.viewContext.fetchExisting(id))
        #expect(ann.pets.isEmpty)
        try await stack.perform { transaction in
            let ann = try transaction.fetchExisting(id)
            _ = try transaction.insertAll(Into<Dog>(), sources: 0..<3) { dog, number in
                dog.name = "D\(number)"
                dog.owner = ann
            }
        }
        try stack.viewContext.merge()
        #expect(dogs(ann) == ["D0", "D1", "D2"])
    }

    @Test(arguments: TestStore.all) func aFailureLeavesTheMembersAsTheyWere(_ store: TestStore) throws {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(Person.self), ben = try transaction.create(Person.self)
            #expect(ann.pets.isEmpty)
            struct Stop: Error {}
            #expect(throws: Stop.self) {
                // More than are written at once.
                try transaction.insertAll(Into<Dog>(), sources: 0..<5_000) { dog, number in
                    if number == 4_999 { throw Stop() }
                    dog.owner = ann
                }
            }
            #expect(ann.pets.isEmpty)
            #expect(try transaction.fetchCount(From<Dog>()) == 0)
            // The destination is deleted before the row is written.
            let error = #expect(throws: StorageError.self) {
                try transaction.insertAll(Into<Dog>(), sources: 0..<2) { dog, number in
                    if number == 0 { dog.owner = ben } else { try transaction.delete(ben) }
                }
            }
            #expect(error?.code == .validationFailed && error?.details.property == "owner")
            // The creation of the destination is undone, so that its key belongs to the next new object.
            let undone = #expect(throws: StorageError.self) {
                try transaction.insertAll(Into<Dog>(), sources: 0..<1) { dog, _ in
                    try? transaction.nested {
                        dog.owner = try transaction.create(Person.self)
                        throw Stop()
                    }
                    _ = try transaction.create(Person.self)
                }
            }
            #expect(undone?.code == .validationFailed && undone?.details.property == "owner")
            #expect(try transaction.fetchCount(From<Dog>()) == 0)
        })
        #expect(try stack.fetchCount(From<Dog>()) == 0)
    }

    @Test func upsertsAndOtherRelationshipsAreRefused() throws {
        let schema = try Schema(entities: [
            Entity(
                "Team", attributes: [Attribute("name", .string)],
                relationships: [
                    Relationship("list", to: "Player", .toManyOrdered, inverse: "team"),
                    Relationship("badge", to: "Badge", .toOne, inverse: "team"),
                    Relationship("home", to: "Place", .toOne),
                ], uniqueConstraints: [UniqueConstraint(["name"])]),
            Entity("Player", relationships: [Relationship("team", to: "Team", .toOne, inverse: "list")]),
            Entity("Badge", relationships: [Relationship("team", to: "Team", .toOne, inverse: "badge")]), Entity("Place"),
        ])
        let stack = try DataStack(schema: schema)
        try stack.addStorageAndWait(TestStore.memory.make())
        func insertion(_ entity: String, _ property: String, _ target: String) -> StorageError? {
            #expect(throws: StorageError.self) {
                try stack.perform(synchronous: { transaction in
                    let other = try transaction.create(Into<DynamicObject>(entity: target))
                    if target == "Team" { try other.setValue(.string("A"), for: "name") }
                    _ = try transaction.insertAll(Into<DynamicObject>(entity: entity), sources: [1]) { object, _ in
                        if entity == "Team" { try object.setValue(.string("B"), for: "name") }
                        try object.setObject(other, for: property)
                    }
                })
            }
        }
        for (entity, property, target) in [("Player", "team", "Team"), ("Badge", "team", "Team"), ("Team", "badge", "Badge")] {
            let error = insertion(entity, property, target)
            #expect(error?.code == .unsupported && error?.details.entity == entity && error?.details.property == property)
        }
        let error = #expect(throws: StorageError.self) {
            try stack.perform(synchronous: { transaction in
                let place = try transaction.create(Into<DynamicObject>(entity: "Place"))
                _ = try transaction.upsertAll(Into<DynamicObject>(entity: "Team"), onNamed: ["name"], sources: [1]) { team, _ in
                    try team.setValue(.string("A"), for: "name")
                    try team.setObject(place, for: "home")
                }
            })
        }
        #expect(error?.code == .unsupported && error?.details.property == "home")
        #expect(try stack.fetchCount(From<DynamicObject>(entity: "Team")) == 0)
    }
}
