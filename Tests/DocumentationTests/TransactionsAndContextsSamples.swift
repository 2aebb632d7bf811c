#if Macros
import Polystore
import PolystoreInMemory
import PolystoreMacros
import Testing

/// The samples of "Transactions and Contexts".
@Suite(.scratch) struct TransactionsAndContextsSamples {
    @Model final class Person: ManagedObject {
        var name: String = ""
        var age: Int = 0
        @Attribute(.unique) var email: String?
    }

    @Model final class Contact: ManagedObject {
        @Attribute(.unique) var email: String = ""
        var name: String = ""
    }

    private func stack() throws -> DataStack {
        let stack = try DataStack(Person.self, Contact.self)
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    @Test func aTransactionReturnsAnID() async throws {
        let stack = try stack()
        let id = try await stack.perform(author: "import") { transaction in
            let ann = try transaction.create(Person.self)
            ann.name = "Ann"
            return ann.objectID
        }
        #expect(try stack.fetchExisting(id)?.name == "Ann")
        #expect(try stack.history().transactions.map(\.author) == ["import"])
    }

    @Test func aTransactionCanWait() throws {
        let stack = try stack()
        try stack.perform(synchronous: { try $0.create(Person.self).age = 17 })
        let count = try stack.perform(synchronous: { transaction in
            for person in try transaction.fetchAll(From<Person>().where(\.age < 18)) { person.age += 1 }
            return try transaction.fetchCount(From<Person>())
        })
        #expect(count == 1)
        #expect(try stack.fetchOne(From<Person>())?.age == 18)
    }

    @Test func objectsAreImported() async throws {
        let stack = try stack()
        let sources = [["email": "ann@example.com", "name": "Ann"], ["email": "bob@example.com", "name": "Bob"]]
        try await stack.perform { transaction in
            _ = try transaction.importUniqueObjects(Into<Contact>(), sourceArray: sources)
        }
        try await stack.perform { transaction in
            _ = try transaction.importUniqueObjects(Into<Contact>(), sourceArray: sources.dropFirst())
        }
        #expect(try stack.fetchAll(From<Contact>()).map(\.name) == ["Ann", "Bob"])
    }

    @Test func aDetachedTransactionCommitsOnce() throws {
        let stack = try stack()
        try stack.perform(synchronous: { try $0.create(Person.self).name = "Ann" })
        let transaction = stack.beginUnsafe(author: "editor")
        let ann = try transaction.fetchOne(From<Person>().where(\.name == "Ann"))
        ann?.age = 34  // in memory
        try transaction.commit(merging: .mine)  // one short write transaction
        #expect(try stack.fetchOne(From<Person>())?.age == 34)
    }

    @Test func anErrorHasACode() async throws {
        let stack = try stack()
        func register() async throws {
            do {
                try await stack.perform { transaction in
                    let ann = try transaction.fetchOrCreate(Person.self, \.email == "ann@example.com")
                    ann.name = "Ann"
                }
            } catch {
                guard let error = error as? StorageError else { throw error }
                switch error.code {
                case .validationFailed: error.details.failures.forEach { print($0.property ?? "", $0.message) }
                case .uniqueConstraintViolated: print("another person has this", error.details.property ?? "")
                default: print(error.isRetryable ? "later, perhaps" : error.message)
                }
            }
        }
        try await register()
        try await register()
        let ann = try #require(try stack.fetchOne(From<Person>()))
        #expect(ann.name == "Ann" && ann.email == "ann@example.com" && printed.isEmpty)
        let error = await #expect(throws: StorageError.self) {
            try await stack.perform { try $0.create(Person.self).email = "ann@example.com" }
        }
        #expect(error?.code == .uniqueConstraintViolated && error?.details.property == "email" && error?.isRetryable == false)
    }
}

private typealias Contact = TransactionsAndContextsSamples.Contact

extension Contact: ImportableUniqueObject {
    typealias ImportSource = [String: String]
    static var uniqueIDKeyPath: String { "email" }
    var uniqueIDValue: String {
        get { email }
        set { email = newValue }
    }

    static func uniqueID(from source: [String: String], in transaction: BaseTransaction) throws -> String? { source["email"] }
    func update(from source: [String: String], in transaction: BaseTransaction) throws { name = source["name"] ?? "" }
}
#endif
