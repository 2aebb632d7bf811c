import Polystore
import PolystoreInMemory
import Testing

@Suite struct DebugDescriptionTests {
    @Test func debugDescriptionsShowTheState() throws {
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(InMemoryStore())
        #expect(stack.debugDescription.hasPrefix("DataStack of model \"1\", 3 entities, 1 stores\n  0: memory (all entities) "))
        try stack.perform(
            author: "ann",
            synchronous: { transaction in
                let person = try transaction.create(Person.self)
                person.name = "Ann"
                #expect(
                    person.debugDescription
                        == "Person 1 version 0 new\n  age: 0\n  email: null\n  name: \"Ann\"\n  partner: null")
                #expect(transaction.debugDescription == "WriteTransaction by \"ann\": 1 inserted, 0 updated, 0 deleted")
            })
        let from = From<Person>().where(\.age > 3).orderBy(.descending(\.name)).limit(2).offset(1).prefetch(\.pets)
        #expect(from.debugDescription == "From<Person> where age > 3 order by name descending limit 2 offset 1 prefetch pets")
        #expect(Into<Person>("Cache").debugDescription == "Into<Person>(Cache)")
        let view = stack.makeViewContext()
        let people = try view.fetchAll(From<Person>())
        #expect(view.debugDescription == "ViewContext merging automatic, 1 objects alive")
        #expect(people[0].debugDescription.hasPrefix("Person 1 version 1\n"))
        let error = StorageError(
            .validationFailed, "a is wrong",
            details: .init(entity: "Person", keys: [1, 2], failures: [ValidationFailure("age", "must be less")]))
        #expect(
            error.debugDescription
                == "validationFailed: a is wrong\n  entity: Person\n  keys: 1, 2\n  failure: age must be less (key 0)")
    }
}
