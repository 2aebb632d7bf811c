import Polystore
import RawSessions
import TestStores
import Testing

/// Nothing keeps a store, a stack or an object longer than the program does.
@Suite struct LifetimeTests {
    @Test(arguments: TestStore.all) func aReleasedStackReleasesItsStore(_ kind: TestStore) async throws {
        weak var store: (any StorageInterface)?
        weak var person: Person?
        func work() async throws {
            let made = kind.make()
            store = made
            let stack = try DataStack(Person.self, Animal.self, Dog.self)
            try stack.addStorageAndWait(made)
            try await stack.perform { transaction in
                let ann = try transaction.create(Person.self)
                ann.name = "Ann"
                let rex = try transaction.create(Dog.self)
                rex.name = "Rex"
                rex.owner = ann
            }
            let people = try stack.fetchAll(From<Person>().where(\.name == "Ann"))
            person = people[0]
            #expect(people[0].pets.count == 1)
            #expect(try stack.fetchAll(From<Dog>().where(\.owner?.name == "Ann")).first?.owner?.name == "Ann")
            _ = try? stack.perform(synchronous: { transaction in
                _ = try transaction.create(Person.self)
                try transaction.cancel()
            })
        }
        try await work()
        #expect(person == nil)
        // A worker may still hold the last closure for a moment.
        for _ in 0..<500 where store != nil { try await Task.sleep(for: .milliseconds(10)) }
        #expect(store == nil)
    }

    @Test(arguments: TestStore.all) func anObjectOutlivesItsContextAndStack(_ kind: TestStore) throws {
        func fetch() throws -> Person {
            let stack = try kind.stack()
            try stack.perform(synchronous: { transaction in
                let ann = try transaction.create(Person.self)
                ann.name = "Ann"
                let rex = try transaction.create(Dog.self)
                rex.name = "Rex"
                rex.owner = ann
            })
            return try #require(try stack.fetchOne(From<Person>()))
        }
        let ann = try fetch()
        #expect(ann.name == "Ann")
        #expect(ann.pets.map(\.name) == ["Rex"])
        #expect(ann.pets.first?.owner === ann)
    }

    @Test(arguments: TestStore.all) func objectsOfAStoreThatWasRemovedAreRead(_ kind: TestStore) throws {
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        let store = kind.make()
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { transaction in try transaction.create(Person.self).name = "Ann" })
        let ann = try #require(try stack.fetchOne(From<Person>()))
        try stack.removeStorage(store)
        #expect(ann.name == "Ann")
        // What was not loaded cannot be any more: a getter gives the empty collection.
        #expect(ann.pets.isEmpty)
    }
}
