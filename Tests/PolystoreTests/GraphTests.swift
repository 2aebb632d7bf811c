import Foundation
import Polystore
import TestStores
import Testing

@Suite struct GraphTests {
    @Test(arguments: TestStore.all) func committedObjectsAreFetched(_ store: TestStore) async throws {
        let stack = try store.stack()
        let id = try await stack.perform { transaction in
            let ann = try transaction.create(Person.self)
            ann.name = "Ann"
            ann.age = 33
            let rex = try transaction.create(Dog.self)
            rex.name = "Rex"
            rex.size = .large
            rex.owner = ann
            #expect(ann.pets.count == 1)
            return ann.objectID
        }
        let people = try stack.fetchAll(From<Person>().where(\.age > 30 && \.name == "Ann"))
        #expect(people.count == 1)
        #expect(people[0].objectID == id)
        let pets = people[0].pets
        #expect(pets.map(\.name) == ["Rex"])
        #expect((pets.first as? Dog)?.size == .large)
        #expect(try stack.fetchAll(From<Dog>().where(\.owner?.name == "Ann")).count == 1)
        #expect(try stack.fetchAll(From<Animal>().orderBy(.descending(\.name))).first is Dog)
        #expect(try stack.queryValue(From<Person>().select(Int.self, .sum(\.age))) == 33)
        #expect(try stack.fetchCount(From<Person>().where(\.email == nil)) == 1)
    }

    @Test(arguments: TestStore.all) func cascadeDeletesOwnedObjects(_ store: TestStore) throws {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(Person.self)
            for index in 0..<3 {
                let dog = try transaction.create(Dog.self)
                dog.name = "Dog \(index)"
                dog.owner = ann
            }
        })
        try stack.perform(synchronous: { transaction in
            let ann = try #require(try transaction.fetchOne(From<Person>()))
            #expect(try transaction.delete([ann]) == 4)
        })
        #expect(try stack.fetchCount(From<Animal>()) == 0)
    }
}
