#if Macros
import PolystoreInMemory
import PolystoreMacros
import Testing

// The example of the README.

@Model class Person: ManagedObject {
    var name: String = ""
    var age: Int = 0
    @Attribute(.unique) var email: String?
    @Relationship(inverse: \Dog.owner, deleteRule: .cascade) var dogs: Set<Dog>
}

@Model class Dog: ManagedObject {
    var name: String = ""
    @Relationship var owner: Person?
}

@Suite struct ReadmeTests {
    @Test func theReadmeExampleWorks() async throws {
        let stack = try DataStack(Person.self, Dog.self)
        try stack.addStorageAndWait(InMemoryStore())

        try await stack.perform { transaction in
            let ann = try transaction.create(Person.self)
            ann.name = "Ann"
            ann.age = 33
            let rex = try transaction.create(Dog.self)
            rex.name = "Rex"
            rex.owner = ann
        }

        let adults = try stack.fetchAll(From<Person>().where(\.age >= 18).orderBy(.ascending(\.name)).limit(10))
        #expect(adults.map(\.name) == ["Ann"])
        #expect(adults.first?.dogs.map(\.name) == ["Rex"])
        #expect(try stack.fetchCount(From<Dog>().where(\.owner?.name == "Ann")) == 1)
        #expect(try stack.queryValue(From<Person>().select(Int.self, .maximum(\.age))) == 33)
    }

    /// The example of the article on transactions.
    @Test func theExampleOfErrorsWorks() async throws {
        let stack = try DataStack(Person.self, Dog.self)
        try stack.addStorageAndWait(InMemoryStore())
        for name in ["Ann", "Anna"] {
            try await stack.perform { transaction in
                try transaction.fetchOrCreate(Person.self, \.email == "ann@example.com").name = name
            }
        }
        let ann = try #require(try stack.fetchOne(From<Person>()))
        #expect(ann.name == "Anna" && ann.email == "ann@example.com")
        do {
            try await stack.perform { try $0.create(Person.self).email = "ann@example.com" }
            Issue.record("two people have one address")
        } catch let error as StorageError {
            #expect(error.code == .uniqueConstraintViolated && error.details.property == "email" && !error.isRetryable)
        }
    }
}
#endif
