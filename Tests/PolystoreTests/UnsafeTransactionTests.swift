import Foundation
import Polystore
import TestStores
import Testing

@Suite struct UnsafeTransactionTests {
    private func stack(_ store: TestStore, _ people: [(String, Int)] = []) throws -> DataStack {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            for (name, age) in people {
                let person = try transaction.create(Person.self)
                person.name = name
                person.age = age
            }
        })
        return stack
    }

    private func people(_ stack: DataStack) throws -> [String] {
        try stack.fetchAll(From<Person>().orderBy(.ascending(\.name))).map { "\($0.name) \($0.age)" }
    }

    @Test(arguments: TestStore.all) func changesStayInMemoryUntilEachCommit(_ store: TestStore) throws {
        let stack = try stack(store, [("Ann", 1)])
        let transaction = stack.beginUnsafe(author: "editor")
        let ann = try #require(try transaction.fetchOne(From<Person>()))
        ann.age = 2
        let ben = try transaction.create(Person.self)
        ben.name = "Ben"
        #expect(transaction.hasChanges)
        #expect(try people(stack) == ["Ann 1"])
        // Nobody waits for it.
        try stack.perform(synchronous: { try $0.create(Person.self).name = "Zoe" })
        try transaction.commit()
        #expect(!transaction.hasChanges)
        #expect(try people(stack) == ["Ann 2", "Ben 0", "Zoe 0"])
        try transaction.commit()
        ann.age = 3
        ben.age = 9
        try transaction.commit()
        #expect(try people(stack) == ["Ann 3", "Ben 9", "Zoe 0"])
        #expect(ann.version == 3 && ben.version == 2)
        try transaction.delete(ann, ben)
        try transaction.commit()
        #expect(try people(stack) == ["Zoe 0"])
    }

    @Test(arguments: TestStore.all) func itsFetchesSeeItsChanges(_ store: TestStore) throws {
        let stack = try stack(store, [("Ann", 10), ("Ben", 20), ("Cid", 30), ("Dan", 40)])
        let transaction = stack.beginUnsafe()
        let all = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.name)))
        all[0].age = 35
        all[2].age = 5
        try transaction.delete(all[3])
        let eve = try transaction.create(Person.self)
        eve.name = "Eve"
        eve.age = 25
        func names(_ from: From<Person>) throws -> [String] { try transaction.fetchAll(from).map(\.name) }
        #expect(try names(From<Person>().where(\.age >= 20).orderBy(.descending(\.age))) == ["Ann", "Eve", "Ben"])
        #expect(try names(From<Person>().orderBy(.ascending(\.age)).offset(1).limit(2)) == ["Ben", "Eve"])
        #expect(try transaction.fetchCount(From<Person>().where(\.age < 20)) == 1)
        #expect(try transaction.fetchIDs(From<Person>()).count == 4)
        #expect(try stack.fetchCount(From<Person>().where(\.age < 20)) == 1)
        // A condition over a relationship to an object that was changed, or made, here.
        let rex = try transaction.create(Dog.self)
        rex.name = "Rex"
        rex.owner = all[2]
        #expect(try transaction.fetchAll(From<Dog>().where(\.owner?.age == 5)) == [rex])
        #expect(all[2].pets == [rex])
        rex.owner = eve
        #expect(try transaction.fetchAll(From<Dog>().where(\.owner?.name == "Eve")) == [rex])
        #expect(try transaction.fetchCount(From<Dog>().where(\.owner?.age == 5)) == 0)
        #expect(all[2].pets.isEmpty && eve.pets == [rex])
        try transaction.commit()
        #expect(try people(stack) == ["Ann 35", "Ben 20", "Cid 5", "Eve 25"])
        #expect(try stack.fetchOne(From<Dog>())?.owner?.name == "Eve")
    }

    @Test(arguments: TestStore.all) func lazilyLoadedMembersAreCurrent(_ store: TestStore) throws {
        let stack = try stack(store, [("Ann", 1), ("Ben", 2)])
        try stack.perform(synchronous: { transaction in
            let ann = try transaction.fetchOne(From<Person>().where(\.name == "Ann"))
            for name in ["Rex", "Rolf"] {
                let dog = try transaction.create(Dog.self)
                dog.name = name
                dog.owner = ann
            }
        })
        let transaction = stack.beginUnsafe()
        let rex = try #require(try transaction.fetchOne(From<Dog>().where(\.name == "Rex")))
        let ben = try #require(try transaction.fetchOne(From<Person>().where(\.name == "Ben")))
        // Neither owner's pets are known here when the dog moves.
        rex.owner = ben
        let ann = try #require(try transaction.fetchOne(From<Person>().where(\.name == "Ann")))
        #expect(ann.pets.map(\.name) == ["Rolf"])
        #expect(ben.pets.map(\.name) == ["Rex"])
    }

    @Test(arguments: TestStore.all) func concurrentChangesAreAConflict(_ store: TestStore) throws {
        let stack = try stack(store, [("Ann", 1), ("Ben", 2), ("Cid", 3)])
        let transaction = stack.beginUnsafe()
        let all = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.name)))
        for person in all { person.age += 10 }
        try stack.perform(synchronous: { other in
            let same = try other.fetchAll(From<Person>().orderBy(.ascending(\.name)))
            same[0].email = "ann@example.com"
            try other.delete(same[1])
        })
        let error = #expect(throws: StorageError.self) { try transaction.commit() }
        #expect(error?.code == .staleObject)
        #expect(Set(error?.details.keys ?? []) == Set(all[0...1].map { $0.objectID.key.key }))
        #expect(try people(stack) == ["Ann 1", "Cid 3"])
        let conflict = try #require(error?.details.conflicts.first { $0.key == all[0].objectID.key.key })
        #expect(conflict.entity == "Person" && conflict.base["age"] == .int(1) && conflict.base["email"] == .null)
        #expect(conflict.mine == ["age": .int(11)])
        #expect(conflict.theirs?["age"] == .int(1) && conflict.theirs?["email"] == .string("ann@example.com"))
        #expect(error?.details.conflicts.contains { $0.theirs == nil } == true)
        #expect(error?.description.contains("ann@example.com") == false)
        // The changes are still there.
        #expect(transaction.hasChanges && all[0].age == 11)
        try transaction.commit(merging: .mine)
        #expect(try people(stack) == ["Ann 11", "Cid 13"])
        #expect(try stack.fetchOne(From<Person>().where(\.name == "Ann"))?.email == "ann@example.com")
        // What the other wrote is in the object too.
        #expect(all[0].email == "ann@example.com" && all[0].version == 3)
    }

    @Test(arguments: TestStore.all) func eachAttributeCanBeDecidedByItself(_ store: TestStore) throws {
        let stack = try stack(store, [("Ann", 1)])
        let transaction = stack.beginUnsafe()
        let ann = try #require(try transaction.fetchOne(From<Person>()))
        ann.age = 10
        ann.email = "mine"
        try stack.perform(synchronous: { other in
            let same = try #require(try other.fetchOne(From<Person>()))
            same.age = 5
            same.name = "Anna"
        })
        // Both changed the age; only one of them the others.
        try transaction.commit(
            merging: .byAttribute { entity, attribute, base, mine, theirs in
                #expect(entity == "Person" && attribute == "age")
                guard case (.int(let base), .int(let mine), .int(let theirs)) = (base, mine, theirs) else { return mine }
                return .int(mine + theirs - base)
            })
        #expect(try people(stack) == ["Anna 14"])
        #expect(ann.age == 14 && ann.name == "Anna" && ann.email == "mine")
        #expect(try stack.fetchOne(From<Person>())?.email == "mine")
    }

    @Test(arguments: TestStore.all) func aDeletionConflictsWithAChange(_ store: TestStore) throws {
        let stack = try stack(store, [("Ann", 1), ("Ben", 2)])
        let transaction = stack.beginUnsafe()
        let all = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.name)))
        try transaction.delete(all[0], all[1])
        try stack.perform(synchronous: { other in try other.fetchOne(From<Person>().where(\.name == "Ann"))?.age = 9 })
        let error = #expect(throws: StorageError.self) { try transaction.commit() }
        #expect(error?.details.conflicts.count == 1 && error?.details.conflicts.first?.mine == nil)
        try transaction.commit(merging: .theirs)
        #expect(try people(stack) == ["Ann 9"])
        #expect(!all[0].isDeleted && all[0].age == 9 && all[1].isDeleted)
        try transaction.delete(all[0])
        try transaction.commit(merging: .mine)
        #expect(try people(stack).isEmpty)
    }

    @Test(arguments: TestStore.all) func theStoredValuesCanTakePrecedence(_ store: TestStore) throws {
        let stack = try stack(store, [("Ann", 1), ("Ben", 2)])
        let transaction = stack.beginUnsafe()
        let all = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.name)))
        for person in all { person.age += 10 }
        try stack.perform(synchronous: { other in
            try other.fetchOne(From<Person>().where(\.name == "Ann"))?.age = 50
        })
        try transaction.commit(merging: .theirs)
        #expect(try people(stack) == ["Ann 50", "Ben 12"])
        #expect(all[0].age == 50 && all[0].version == 2)
        all[0].age = 51
        try transaction.commit()
        #expect(try people(stack) == ["Ann 51", "Ben 12"])
    }

    @Test(arguments: TestStore.all) func aRollbackRestoresTheLastCommit(_ store: TestStore) throws {
        let stack = try stack(store, [("Ann", 1), ("Ben", 2)])
        let transaction = stack.beginUnsafe()
        let all = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.name)))
        all[0].age = 5
        try transaction.commit()
        all[0].age = 6
        try transaction.delete(all[1])
        _ = try transaction.create(Person.self)
        try transaction.rollback()
        #expect(!transaction.hasChanges)
        #expect(all[0].age == 5 && all[1].age == 2)
        #expect(try transaction.fetchCount(From<Person>()) == 2)
        all[1].age = 7
        try transaction.commit()
        #expect(try people(stack) == ["Ann 5", "Ben 7"])
    }

    @Test func aBrokenRuleLeavesTheChangesToBeCorrected() throws {
        let stack = try stack(.sqlite, [("Ann", 1)])
        try stack.perform(synchronous: { try $0.fetchOne(From<Person>())?.email = "a" })
        let transaction = stack.beginUnsafe()
        let ben = try transaction.create(Person.self)
        ben.email = "a"
        let error = #expect(throws: StorageError.self) { try transaction.commit() }
        #expect(error?.code == .uniqueConstraintViolated)
        ben.email = "b"
        try transaction.commit()
        #expect(try stack.fetchCount(From<Person>()) == 2)
    }

    @Test(arguments: TestStore.all) func changesAreUndoneAndRedone(_ store: TestStore) throws {
        let stack = try stack(store, [("Ann", 1), ("Ben", 2)])
        let transaction = stack.beginUnsafe(supportsUndo: true)
        let all = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.name)))
        all[0].age = 10
        try transaction.markUndoPoint()
        let rex = try transaction.create(Dog.self)
        rex.name = "Rex"
        rex.owner = all[0]
        try transaction.markUndoPoint()
        try transaction.delete(all[1])
        rex.owner = nil
        all[0].age = 20
        func state() throws -> [String] {
            try transaction.fetchAll(From<Person>().orderBy(.ascending(\.name))).map { person in
                "\(person.name) \(person.age) \(person.pets.map(\.name))"
            } + transaction.fetchAll(From<Dog>()).map { "\($0.name) of \($0.owner?.name ?? "nobody")" }
        }
        let states = [
            ["Ann 1 []", "Ben 2 []"], ["Ann 10 []", "Ben 2 []"], ["Ann 10 [\"Rex\"]", "Ben 2 []", "Rex of Ann"],
            ["Ann 20 []", "Rex of nobody"],
        ]
        #expect(try state() == states[3])
        for expected in states.dropLast().reversed() {
            #expect(try transaction.undo())
            #expect(try state() == expected)
        }
        #expect(try !transaction.undo())
        #expect(!transaction.hasChanges)
        for expected in states.dropFirst() {
            #expect(try transaction.redo())
            #expect(try state() == expected)
        }
        #expect(try !transaction.redo())
        try transaction.undo()
        // A new step ends what could be done again.
        try transaction.markUndoPoint()
        all[1].age = 99
        #expect(try !transaction.redo())
        try transaction.commit()
        #expect(try people(stack) == ["Ann 10", "Ben 99"])
        #expect(try stack.fetchOne(From<Dog>())?.owner?.name == "Ann")
        // What is committed stays.
        #expect(try !transaction.undo() && !transaction.redo())
        #expect(!transaction.canUndo && !transaction.canRedo)
        #expect(all[1].age == 99)
        let plain = stack.beginUnsafe()
        let error = #expect(throws: StorageError.self) { try plain.undo() }
        #expect(error?.code == .unsupported)
    }

    @Test func undoAndRedoSayWhetherTheyWouldChangeSomething() throws {
        let transaction = try stack(.memory, [("Ann", 0)]).beginUnsafe(supportsUndo: true)
        let ann = try #require(try transaction.fetchOne(From<Person>()))
        func can() -> [Bool] { [transaction.canUndo, transaction.canRedo] }
        #expect(can() == [false, false])
        #expect(try !transaction.undo() && !transaction.redo())
        ann.age = 1
        try transaction.markUndoPoint()
        ann.age = 2
        #expect(can() == [true, false])
        #expect(try transaction.undo() && ann.age == 1 && can() == [true, true])
        #expect(try transaction.undo() && ann.age == 0 && can() == [false, true])
        #expect(try !transaction.undo())
        #expect(try transaction.redo() && ann.age == 1 && can() == [true, true])
        ann.age = 3
        #expect(can() == [true, false])
        try transaction.commit()
        #expect(can() == [false, false])
        #expect(try !transaction.undo() && !transaction.redo() && ann.age == 3)
        let plain = try stack(.memory, []).beginUnsafe()
        #expect(!plain.canUndo && !plain.canRedo)
    }

    /// A restored state is one to return to once something was changed after it, whether or not that change is marked.
    @Test func aMarkAfterAnUndoKeepsTheRestoredState() throws {
        let transaction = try stack(.memory, [("Ann", 0)]).beginUnsafe(supportsUndo: true)
        let ann = try #require(try transaction.fetchOne(From<Person>()))
        func undone() throws -> [Int] {
            var ages: [Int] = []
            while try transaction.undo() { ages.append(ann.age) }
            return ages
        }
        ann.age = 1
        try transaction.undo()
        ann.age = 2
        try transaction.markUndoPoint()
        ann.age = 3
        #expect(try undone() == [2, 0])
        ann.age = 1
        try transaction.markUndoPoint()
        ann.age = 2
        try transaction.undo()
        // Marked without a change, it is one state.
        try transaction.markUndoPoint()
        ann.age = 5
        try transaction.markUndoPoint()
        ann.age = 6
        #expect(try undone() == [5, 1, 0])
    }

    @Test(arguments: TestStore.all) func readsCanBeValidatedAtTheCommit(_ store: TestStore) throws {
        let stack = try stack(store, [("Ann", 1), ("Ben", 2)])
        let transaction = stack.beginUnsafe()
        let all = try transaction.fetchAll(From<Person>().orderBy(.ascending(\.name)))
        all[0].age = all[1].age * 10
        try stack.perform(synchronous: { try $0.fetchOne(From<Person>().where(\.name == "Ben"))?.age = 3 })
        let error = #expect(throws: StorageError.self) { try transaction.commit(validatesReads: true) }
        #expect(error?.code == .staleObject && error?.details.keys == [all[1].objectID.key.key])
        #expect(try people(stack) == ["Ann 1", "Ben 3"])
        try transaction.refresh()
        #expect(all[0].age == 20 && all[1].age == 3)
        all[0].age = all[1].age * 10
        try transaction.commit(validatesReads: true)
        #expect(try people(stack) == ["Ann 30", "Ben 3"])
        // Without the guard a decision stands.
        all[0].age = all[1].age
        try stack.perform(synchronous: { try $0.fetchOne(From<Person>().where(\.name == "Ben"))?.age = 4 })
        try transaction.commit()
        #expect(try people(stack) == ["Ann 3", "Ben 4"])
    }
}
