import Polystore
import TestStores
import Testing

@Suite struct UpsertReadingTests {
    @Test(arguments: TestStore.all) func anUpsertRefusesToReadWhatItHasNotAssigned(_ kind: TestStore) throws {
        let stack = try kind.stack()
        try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(Person.self)
            (ann.email, ann.age) = ("a", 7)
        })
        for isNew in [false, true] {
            let error = #expect(throws: StorageError.self) {
                try stack.perform(synchronous: { transaction in
                    _ = try transaction.upsertAll(Into<Person>(), on: \.email, sources: [isNew ? "b" : "a"]) { person, email in
                        person.email = email
                        person.age += 1
                    }
                })
            }
            #expect(error?.code == .unsupported && error?.details.property == "age")
            #expect(error?.message.contains("importUniqueObjects") == true)
        }
        #expect(try stack.fetchAll(From<Person>()).map(\.age) == [7])
        try stack.perform(synchronous: { transaction in
            _ = try transaction.upsertAll(Into<Person>(), on: \.email, sources: ["a", "b"]) { person, email in
                person.email = email
                person.age = 1
                // What was assigned can be read.
                person.age += person.email == "a" ? 1 : 2
            }
            // The objects of an insertion have their defaults.
            _ = try transaction.insertAll(Into<Person>(), sources: ["c"]) { person, email in
                person.age += 4
                person.email = email
            }
        })
        #expect(try stack.fetchAll(From<Person>().orderBy(.ascending(\.email))).map(\.age) == [2, 3, 4])
    }
}
