import Foundation
import Polystore
import TestStores
import Testing

@Suite struct ViewContextTests {
    private func stack(_ store: TestStore) throws -> DataStack {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            for (name, age) in [("Ann", 1), ("Ben", 2), ("Cid", 3)] {
                let person = try transaction.create(Person.self)
                person.name = name
                person.age = age
            }
        })
        return stack
    }

    private func set(_ age: Int, of name: String, _ stack: DataStack) throws {
        try stack.perform(synchronous: { try $0.fetchOne(From<Person>().where(\.name == name))?.age = age })
    }

    @Test(arguments: TestStore.all) func commitsAreMergedIntoTheSameObjects(_ store: TestStore) throws {
        let stack = try stack(store)
        let view = stack.makeViewContext()
        let people = try view.fetchAll(From<Person>().orderBy(.ascending(\.name)))
        #expect(try view.fetchExisting(people[1].objectID) === people[1])
        try set(20, of: "Ben", stack)
        try stack.perform(synchronous: { transaction in
            try transaction.fetchOne(From<Person>().where(\.name == "Cid")).map { _ = try transaction.delete([$0]) }
            let rex = try transaction.create(Dog.self)
            rex.name = "Rex"
            rex.owner = try transaction.edit(people[0])
        })
        // Nothing changes under the reader's hands before it looks again.
        #expect(people[1].age == 2 && !people[2].isDeleted)
        #expect(try view.merge())
        #expect(try !view.merge())
        #expect(people[1].age == 20 && people[1].version == 2)
        #expect(people[2].isDeleted && !people[0].isDeleted)
        #expect(people[0].pets.map(\.name) == ["Rex"])
        let again = try view.fetchAll(From<Person>().orderBy(.ascending(\.name)))
        #expect(again.count == 2 && again[0] === people[0] && again[1] === people[1])
        // A fetch merges by itself.
        try set(30, of: "Ben", stack)
        #expect(try view.fetchCount(From<Person>().where(\.age == 30)) == 1)
        #expect(people[1].age == 30)
    }

    @Test(arguments: TestStore.all) func anOnDemandContextChangesOnlyWhenMerged(_ store: TestStore) throws {
        let stack = try stack(store)
        let still = stack.makeViewContext(merging: .onDemand), following = stack.makeViewContext()
        let ann = try #require(try still.fetchOne(From<Person>().where(\.name == "Ann")))
        let other = try #require(try following.fetchOne(From<Person>().where(\.name == "Ann")))
        #expect(ann !== other)
        try set(10, of: "Ann", stack)
        #expect(try still.fetchOne(From<Person>().where(\.name == "Ann"))?.age == 1)
        #expect(try following.fetchOne(From<Person>().where(\.name == "Ann"))?.age == 10)
        try still.merge()
        #expect(ann.age == 10)
        try set(11, of: "Ann", stack)
        still.reset()
        let fresh = try #require(try still.fetchOne(From<Person>().where(\.name == "Ann")))
        #expect(fresh !== ann && fresh.age == 11 && ann.age == 10)
    }

    @Test func prefetchedMembersAreInvalidatedByACommit() throws {
        let stack = try stack(.sqlite)
        let view = stack.makeViewContext()
        let ann = try #require(try view.fetchOne(From<Person>().where(\.name == "Ann").prefetch(\.pets)))
        #expect(ann.pets.isEmpty)
        try stack.perform(synchronous: { transaction in
            let rex = try transaction.create(Dog.self)
            rex.name = "Rex"
            rex.owner = try transaction.edit(ann)
        })
        try view.merge()
        #expect(ann.pets.map(\.name) == ["Rex"])
    }

    @Test func aDetachedCommitIsMergedToo() throws {
        let stack = try stack(.memory)
        let view = stack.makeViewContext()
        let ann = try #require(try view.fetchOne(From<Person>().where(\.name == "Ann")))
        let transaction = stack.beginUnsafe()
        try transaction.fetchOne(From<Person>().where(\.name == "Ann"))?.age = 77
        try view.merge()
        #expect(ann.age == 1)
        try transaction.commit()
        try view.merge()
        #expect(ann.age == 77)
    }

    @Test func changesBeyondTheMailboxLimitAreReadAgain() throws {
        let stack = try TestStore.memory.stack()
        try stack.perform(synchronous: { transaction in for _ in 0..<12_000 { _ = try transaction.create(Person.self) } })
        let view = stack.makeViewContext()
        let people = try view.fetchAll(From<Person>())
        try stack.perform(synchronous: { transaction in for person in try transaction.fetchAll(From<Person>()) { person.age = 5 } })
        try view.merge()
        #expect(people.count == 12_000 && people.allSatisfy { $0.age == 5 })
    }
}
