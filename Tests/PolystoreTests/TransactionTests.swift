import Foundation
import Polystore
import TestStores
import Testing

@Suite struct TransactionTests {
    private struct Failure: Error {}

    private func names(_ stack: DataStack) throws -> [String] {
        try stack.fetchAll(From<Person>().orderBy(.ascending(\.name))).map(\.name)
    }

    @Test(arguments: TestStore.all) func aPartThatFailsIsUndoneAlone(_ store: TestStore) throws {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in try transaction.create(Person.self).name = "Ann" })
        try stack.perform(synchronous: { transaction in
            let ann = try #require(try transaction.fetchOne(From<Person>()))
            ann.age = 30
            let ben = try transaction.create(Person.self)
            ben.name = "Ben"
            var lost: Person?
            #expect(throws: Failure.self) {
                try transaction.nested {
                    ann.age = 99
                    ben.name = "Bert"
                    let cid = try transaction.create(Person.self)
                    cid.name = "Cid"
                    lost = cid
                    let rex = try transaction.create(Dog.self)
                    rex.name = "Rex"
                    rex.owner = ann
                    #expect(ann.pets.count == 1)
                    // A fetch brings the changes to the store.
                    #expect(try transaction.fetchCount(From<Person>()) == 3)
                    cid.age = 5
                    throw Failure()
                }
            }
            #expect(ann.age == 30 && ben.name == "Ben")
            #expect(ann.pets.isEmpty)
            #expect(try transaction.fetchCount(From<Person>()) == 2)
            let dan = try transaction.create(Person.self)
            dan.name = "Dan"
            #expect(lost !== dan)
            try transaction.nested {
                ben.age = 7
                try transaction.nested { try transaction.delete(dan) }
            }
        })
        #expect(try names(stack) == ["Ann", "Ben"])
        #expect(try stack.fetchAll(From<Person>().orderBy(.ascending(\.name))).map(\.age) == [30, 7])
        #expect(try stack.fetchCount(From<Animal>()) == 0)
        // Keys of the part that failed were given again, and once.
        let ids = try stack.fetchIDs(From<Person>())
        #expect(Set(ids).count == 2)
    }

    @Test(arguments: TestStore.all) func aDeletedObjectIsRestoredWhenThePartFails(_ store: TestStore) throws {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(Person.self)
            ann.name = "Ann"
            let rex = try transaction.create(Dog.self)
            rex.name = "Rex"
            rex.owner = ann
            #expect(throws: Failure.self) {
                try transaction.nested {
                    try transaction.delete(ann)
                    #expect(try transaction.fetchCount(From<Animal>()) == 0)
                    throw Failure()
                }
            }
            #expect(rex.owner === ann)
            ann.name = "Anna"
        })
        #expect(try names(stack) == ["Anna"])
        #expect(try stack.fetchOne(From<Dog>())?.owner?.name == "Anna")
    }

    @Test(arguments: TestStore.all) func aTransactionReportsItsChanges(_ store: TestStore) throws {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            for name in ["Ann", "Ben", "Cid"] { try transaction.create(Person.self).name = name }
        })
        try stack.perform(synchronous: { transaction in
            #expect(!transaction.hasChanges)
            let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.name)))
            people[0].age = 4
            let dan = try transaction.create(Person.self)
            try transaction.delete(people[2])
            let eve = try transaction.create(Person.self)
            try transaction.delete(eve)
            for _ in 0..<2 {
                #expect(transaction.hasChanges)
                #expect(transaction.insertedObjects(Person.self) == [dan])
                #expect(transaction.updatedObjects(Person.self) == [people[0]])
                #expect(transaction.deletedObjectIDs(Person.self) == [people[2].objectID])
                #expect(transaction.insertedObjects(Dog.self).isEmpty)
                #expect(transaction.changedKeys(of: people[0]) == ["age"])
                #expect(transaction.changedKeys(of: people[1]).isEmpty)
                // Once before and once after the changes were brought to the store.
                _ = try transaction.fetchCount(From<Person>())
            }
            people[0].name = "Anna"
            #expect(transaction.changedKeys(of: people[0]) == ["age", "name"])
        })
    }

    @Test func assigningEqualValuesIsNotAChange() throws {
        let stack = try TestStore.memory.stack()
        try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(Person.self)
            ann.name = "Ann"
            ann.age = 30
        })
        try stack.perform(synchronous: { transaction in
            let ann = try #require(try transaction.fetchOne(From<Person>()))
            #expect(!ann.update(\.name, value: "Ann"))
            #expect(!ann.updateIfAvailable(\.age, value: nil))
            #expect(!ann.updateIfAvailable(\.email, value: nil))
            #expect(!ann.update(\.age, value: 31, minimumChange: 2))
            #expect(!ann.add(\.pets, relation: nil))
            #expect(!transaction.hasChanges)
            #expect(ann.update(\.age, value: 32, minimumChange: 2))
            #expect(ann.updateIfAvailable(\.email, value: "ann@example.com"))
            let rex = try transaction.create(Dog.self)
            #expect(ann.add(\.pets, relation: rex))
            #expect(!ann.add(\.pets, relation: rex))
            #expect(rex.owner === ann)
            #expect(ann.remove(\.pets, relation: rex))
            #expect(!ann.remove(\.pets, relation: rex))
            #expect(rex.owner == nil)
            #expect(ann.age == 32 && ann.email == "ann@example.com")
        })
    }

    @Test(arguments: TestStore.all) func missingObjectsAreCreatedWithTheRequiredValues(_ store: TestStore) throws {
        let stack = try store.stack()
        for _ in 0..<2 {
            try stack.perform(synchronous: { transaction in
                let ann = try transaction.fetchOrCreate(Person.self, \.name == "Ann" && \.age == 30)
                let again = try transaction.fetchOrCreate(Person.self, \.age == 30 && \.name == "Ann")
                #expect(ann === again)
            })
        }
        #expect(try names(stack) == ["Ann"])
        let ids = try stack.fetchIDs(From<Person>())
        try stack.read(synchronous: { read in
            let people = try read.fetchExisting(ids + ids)
            #expect(people.map(\.age) == [30, 30] && people[0] === people[1])
            let again = try read.fetchExisting(people)
            #expect(again == people)
        })
    }

    @Test(arguments: TestStore.all) func anObjectIsCreatedByItsInitialiser(_ store: TestStore) throws {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            let rex = try Dog(context: transaction)
            rex.name = "Rex"
            let ann = try Person(context: transaction)
            ann.name = "Ann"
            rex.owner = ann
            #expect(transaction.insertedObjects() == [rex, ann])
            #expect(try transaction.fetchExisting(rex.objectID) === rex)
            // The entity of animals is abstract.
            let error = #expect(throws: StorageError.self) { try Animal(context: transaction) }
            #expect(error?.code == .invalidConfiguration)
        })
        #expect(try stack.fetchOne(From<Dog>())?.owner?.name == "Ann")
    }

    @Test(arguments: TestStore.all) func nothingIsDoneAfterTheEnd(_ store: TestStore) throws {
        let stack = try store.stack()
        var late: WriteTransaction?, read: ReadTransaction?, person: Person?
        try stack.perform(synchronous: { transaction in
            person = try transaction.create(Person.self)
            late = transaction
        })
        try stack.read(synchronous: { read = $0 })
        let ended = try #require(late), reader = try #require(read), ann = try #require(person)
        let uses: [() throws -> Void] = [
            { _ = try ended.create(Person.self) }, { _ = try ended.create(Into<Dog>()) }, { _ = try Person(context: ended) },
            { _ = try ended.edit(ann) }, { _ = try ended.edit(ann.objectID) }, { try ended.delete(ann) },
            { try ended.deleteAll(From<Person>()) }, { _ = try ended.fetchAll(From<Person>()) }, { try ended.nested {} },
            { _ = try reader.fetchAll(From<Person>()) },
        ]
        for use in uses {
            let error = #expect(throws: StorageError.self) { try use() }
            #expect(error?.code == .storeClosed)
        }
        #expect(try stack.fetchCount(From<Person>()) == 1)
    }

    @Test func handlersReceiveTheOutcome() async throws {
        let stack = try TestStore.memory.stack()
        let name = await withCheckedContinuation { continuation in
            stack.perform(
                asynchronous: { transaction in
                    let ann = try transaction.create(Person.self)
                    ann.name = "Ann"
                    return ann.name
                }, completion: { continuation.resume(returning: try? $0.get()) })
        }
        #expect(name == "Ann")
        let isFailure = await withCheckedContinuation { continuation in
            stack.perform(
                asynchronous: { _ in throw Failure() }, success: { continuation.resume(returning: false) },
                failure: { continuation.resume(returning: $0 is Failure) })
        }
        #expect(isFailure)
    }

    @Test(arguments: TestStore.all) func aCancelledTaskChangesNothing(_ store: TestStore) async throws {
        let stack = try store.stack()
        let work = Task {
            try await stack.perform { transaction in
                try transaction.create(Person.self).name = "Ann"
                for _ in 0..<2_000 {
                    Thread.sleep(forTimeInterval: 0.005)
                    _ = try transaction.fetchCount(From<Person>())
                }
            }
        }
        try await Task.sleep(for: .milliseconds(60))
        work.cancel()
        await #expect { try await work.value } throws: { ($0 as? StorageError)?.code == .cancelled }
        #expect(try stack.fetchCount(From<Person>()) == 0)
        let read = Task {
            try await stack.read { source in
                for _ in 0..<2_000 {
                    Thread.sleep(forTimeInterval: 0.005)
                    _ = try source.fetchCount(From<Person>())
                }
            }
        }
        read.cancel()
        await #expect { try await read.value } throws: { ($0 as? StorageError)?.code == .cancelled }
        try await stack.perform { try $0.create(Person.self).name = "Bob" }
        #expect(try stack.fetchCount(From<Person>()) == 1)
    }
}
