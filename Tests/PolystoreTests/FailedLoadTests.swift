import Polystore
import TestStores
import Testing

/// Properties of detached transactions that cannot be loaded, and what is assigned to them.
@Suite struct FailedLoadTests {
    @TaskLocal private static var isConnected = true

    /// Ann, who is 700 and has two dogs, and Bob, who has none.
    private struct Scene {
        let store: HookedStore
        let stack: DataStack

        init(_ kind: TestStore) throws {
            store = HookedStore(kind.make())
            stack = try DataStack(Person.self, Animal.self, Dog.self)
            try stack.addStorageAndWait(store)
            try stack.perform(synchronous: { transaction in
                let ann = try transaction.create(Person.self), bob = try transaction.create(Person.self)
                (ann.name, ann.age, bob.name) = ("Ann", 700, "Bob")
                ann.pets = [try transaction.create(Dog.self), try transaction.create(Dog.self)]
            })
        }

        /// Runs a closure in which no read can begin. Reads of other threads, which follow commits, are not affected.
        func withoutConnection(_ body: () -> Void) {
            store.setHook { event throws(StorageError) in
                if event == .beginRead, !FailedLoadTests.isConnected { throw StorageError(.connectionLost, "a failure") }
            }
            FailedLoadTests.$isConnected.withValue(false, operation: body)
            store.setHook(nil)
        }

        func pets() throws -> Int { try stack.fetchCount(From<Dog>().where(\.owner?.name == "Ann")) }
    }

    private func person(_ name: String, _ transaction: UnsafeTransaction, _ from: From<Person> = From()) throws -> Person {
        try #require(try transaction.fetchOne(from.where(\.name == name)))
    }

    private func code(_ body: () throws -> Void) -> StorageError.Code? {
        do { try body() } catch { return (error as? StorageError)?.code }
        return nil
    }

    @Test(arguments: TestStore.all) func membersThatCouldNotBeReadAreNotReplacedByTheNextCommit(_ kind: TestStore) throws {
        let scene = try Scene(kind), transaction = scene.stack.beginUnsafe()
        let ann = try person("Ann", transaction), dog = try transaction.create(Dog.self)
        scene.withoutConnection { ann.pets.insert(dog) }
        for _ in 1...3 { #expect(code { try transaction.commit() } == .connectionLost) }
        #expect(try scene.pets() == 2)
        // The members are read now.
        ann.pets.insert(dog)
        #expect(ann.pets.count == 3)
        try transaction.commit()
        #expect(try scene.pets() == 3)
    }

    @Test(arguments: TestStore.all) func aDestinationThatCouldNotBeReadIsNotReplacedByTheNextCommit(_ kind: TestStore) throws {
        let scene = try Scene(kind), transaction = scene.stack.beginUnsafe()
        let bob = try person("Bob", transaction), dog = try #require(try transaction.fetchOne(From<Dog>()))
        scene.withoutConnection { dog.owner = dog.owner ?? bob }
        for _ in 1...2 { #expect(code { try transaction.commit() } == .connectionLost) }
        #expect(try scene.pets() == 2)
        try transaction.rollback()
        dog.owner = dog.owner == nil ? nil : bob
        try transaction.commit()
        #expect(try scene.pets() == 1)
    }

    @Test(arguments: TestStore.all) func anAttributeThatCouldNotBeReadIsNotReplacedByTheNextCommit(_ kind: TestStore) throws {
        let scene = try Scene(kind), transaction = scene.stack.beginUnsafe()
        let ann = try person("Ann", transaction, From<Person>().properties(\.name, \.email))
        func age() throws -> Int? { try scene.stack.fetchOne(From<Person>().where(\.name == "Ann"))?.age }
        scene.withoutConnection { ann.age += 1 }
        ann.email = "ann@example.com"
        for _ in 1...2 {
            let error = #expect(throws: StorageError.self) { try transaction.commit() }
            #expect(error?.code == .connectionLost && error?.message.contains("Person.age was assigned after this") == true)
        }
        #expect(try age() == 700)
        try transaction.rollback()
        #expect(ann.age == 700)
        ann.age += 1
        try transaction.commit()
        #expect(try age() == 701)
    }

    @Test(arguments: TestStore.all) func aFailedReadWithoutAnAssignmentIsThrownOnce(_ kind: TestStore) throws {
        let scene = try Scene(kind), transaction = scene.stack.beginUnsafe()
        let ann = try person("Ann", transaction)
        scene.withoutConnection { #expect(ann.pets.isEmpty) }
        ann.age = 5
        #expect(code { try transaction.commit() } == .connectionLost)
        try transaction.commit()
        #expect(try scene.stack.fetchOne(From<Person>().where(\.name == "Ann"))?.age == 5 && scene.pets() == 2)
    }

    @Test(arguments: TestStore.all) func whatWasReadAfterAFailureCanBeAssigned(_ kind: TestStore) throws {
        let scene = try Scene(kind), transaction = scene.stack.beginUnsafe()
        let ann = try person("Ann", transaction, From<Person>().properties(\.name)), dog = try transaction.create(Dog.self)
        scene.withoutConnection {
            #expect(ann.pets.isEmpty)
            _ = ann.age
        }
        #expect(ann.age == 700 && ann.pets.count == 2)
        ann.age += 1
        ann.pets.insert(dog)
        #expect(code { try transaction.commit() } == .connectionLost)
        try transaction.commit()
        #expect(try scene.stack.fetchOne(From<Person>().where(\.age == 701)) != nil && scene.pets() == 3)
    }

    @Test(arguments: TestStore.all) func whatWasReadAfterAFailureSurvivesAnUndo(_ kind: TestStore) throws {
        let scene = try Scene(kind), transaction = scene.stack.beginUnsafe(supportsUndo: true)
        let ann = try person("Ann", transaction, From<Person>().properties(\.name, \.email))
        scene.withoutConnection {
            ann.email = "ann@example.com"
            _ = try? transaction.markUndoPoint()
        }
        #expect(ann.age == 700)
        ann.name = "Anna"
        #expect(try transaction.undo())
        #expect(ann.age == 700 && ann.name == "Ann" && ann.email == "ann@example.com")
        #expect(try transaction.undo())
        #expect(ann.age == 700 && ann.email == nil)
        #expect(try transaction.redo())
        #expect(try transaction.redo())
        #expect(ann.age == 700 && ann.name == "Anna")
        ann.age += 1
        #expect(code { try transaction.commit() } == .connectionLost)
        try transaction.commit()
        #expect(try scene.stack.fetchOne(From<Person>().where(\.name == "Anna"))?.age == 701)
    }

    /// An undo and the load after it do not make the assigned value, to which a redo returns, one that was read.
    @Test(arguments: TestStore.all) func aRedoneAssignmentWithoutItsStoredValueIsNotCommitted(_ kind: TestStore) throws {
        let scene = try Scene(kind), transaction = scene.stack.beginUnsafe(supportsUndo: true)
        let ann = try person("Ann", transaction, From<Person>().properties(\.name, \.email))
        func age() throws -> Int? { try scene.stack.fetchOne(From<Person>().where(\.name == "Ann"))?.age }
        scene.withoutConnection { ann.age += 1 }
        try transaction.markUndoPoint()
        #expect(try transaction.undo())
        #expect(try transaction.undo())
        #expect(ann.age == 700 && !transaction.hasChanges)
        #expect(try transaction.redo())
        #expect(ann.hasChanges)
        for _ in 1...3 {
            let error = #expect(throws: StorageError.self) { try transaction.commit() }
            #expect(error?.code == .connectionLost && error?.message.contains("Person.age was assigned after this") == true)
        }
        #expect(try age() == 700)
        // Without the assignment nothing prevents the commit.
        #expect(try transaction.undo())
        ann.age += 1
        try transaction.commit()
        #expect(try age() == 701)
    }

    /// Ann has attributes that were not fetched, because the load before her first assignment failed.
    @Test(arguments: TestStore.all) func lookingAtUndoStatesLoadsNothing(_ kind: TestStore) throws {
        let scene = try Scene(kind), transaction = scene.stack.beginUnsafe(supportsUndo: true)
        let ann = try person("Ann", transaction, From<Person>().properties(\.name, \.email))
        scene.withoutConnection { ann.email = "ann@example.com" }
        #expect(code { try transaction.commit() } == .connectionLost)
        scene.withoutConnection {
            #expect(transaction.canUndo && !transaction.canRedo)
            #expect(code { try transaction.markUndoPoint() } == nil)
            #expect(code { _ = try (transaction.undo(), transaction.undo(), transaction.redo()) } == nil)
        }
        try transaction.commit()
        let stored = try scene.stack.fetchOne(From<Person>().where(\.name == "Ann"))
        #expect(stored?.email == "ann@example.com" && stored?.age == 700)
    }

    @Test(arguments: TestStore.all) func anAssignmentAfterALoadThatThrewIsCommitted(_ kind: TestStore) throws {
        let scene = try Scene(kind), transaction = scene.stack.beginUnsafe()
        let ann = try person("Ann", transaction), dog = try transaction.create(Dog.self)
        scene.withoutConnection { #expect(code { _ = try ann.load(\.pets) } == .connectionLost) }
        ann.pets = [dog]
        try transaction.commit()
        #expect(try scene.pets() == 1)
    }

    // MARK: Objects whose rows were deleted

    @Test(arguments: TestStore.all) func readingRelationshipsOfADeletedRowIsAnError(_ kind: TestStore) throws {
        let scene = try Scene(kind), stack = scene.stack
        let ann = try #require(try stack.fetchOne(From<Person>().where(\.name == "Ann"))),
            dog = try #require(try stack.fetchOne(From<Dog>()))
        let view = stack.makeViewContext(merging: .onDemand)
        let shown = try #require(try view.fetchOne(From<Person>().where(\.name == "Ann")))
        try stack.perform(synchronous: { _ = try $0.deleteAll(From<Person>().where(\.name == "Ann")) })
        #expect(code { _ = try ann.load(\.pets) } == .notFound && ann.loadError == nil)
        #expect(ann.pets.isEmpty && ann.loadError?.code == .notFound)
        #expect(ann.loadError?.details.property == "pets" && ann.loadError?.details.keys == [1])
        // Deleted with its owner.
        #expect(code { _ = try dog.load(\.owner) } == .notFound)
        #expect(shown.pets.isEmpty && view.loadError?.code == .notFound)
    }

    @Test(arguments: TestStore.all) func emptyRelationshipsOfExistingObjectsAreNoError(_ kind: TestStore) throws {
        let scene = try Scene(kind), stack = scene.stack
        try stack.perform(synchronous: { transaction in
            let people = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.name)))
            people[0].partner = people[1]
        })
        let ann = try #require(try stack.fetchOne(From<Person>().where(\.name == "Ann")))
        try stack.perform(synchronous: { _ = try $0.deleteAll(From<Person>().where(\.name == "Bob")) })
        // The destination was deleted, and the object refers to none now.
        #expect(try ann.load(\.partner) == nil)
        let bob = try stack.perform(synchronous: { try $0.create(Person.self).objectID })
        let other = try #require(try stack.fetchExisting(bob))
        #expect(try other.load(\.pets).isEmpty && other.load(\.partner) == nil && other.loadError == nil)
    }
}
