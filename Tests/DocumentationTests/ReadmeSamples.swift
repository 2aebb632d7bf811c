#if Macros
import Polystore
import PolystoreCatalog
import PolystoreInMemory
import PolystoreLMDB
import PolystoreMacros
import PolystoreSQLite
import TestStores
import Testing

/// The samples of the README.
@Suite(.scratch) struct ReadmeSamples {
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

    @Test func aStackStoresAndFindsObjects() async throws {
        let stack = try DataStack(Person.self, Dog.self)
        try stack.addStorageAndWait(SQLiteStore(path: scratch("pets.db")))

        try await stack.perform { transaction in
            let ann = try transaction.create(Person.self)
            ann.name = "Ann"
            ann.age = 33
            let rex = try transaction.create(Dog.self)
            rex.name = "Rex"
            rex.owner = ann
        }

        let adults = try stack.fetchAll(From<Person>().where(\.age >= 18).orderBy(.ascending(\.name)).limit(10))
        let dogsOfAnn = try stack.fetchCount(From<Dog>().where(\.owner?.name == "Ann"))
        let oldest = try stack.queryValue(From<Person>().select(Int.self, .maximum(\.age)))

        #expect(adults.map(\.name) == ["Ann"] && dogsOfAnn == 1 && oldest == 33)
        #expect(adults.first?.dogs.map(\.name) == ["Rex"])
    }

    @Test func aListIsFollowed() async throws {
        let stack = try DataStack(Person.self, Dog.self)
        try stack.addStorageAndWait(InMemoryStore())
        let following = Task {
            let people = try stack.publishList(From<Person>().where(\.age >= 18).orderBy(.ascending(\.name)))
            for await update in people.updates { print(update.snapshot.count, update.changes?.inserted ?? []) }
        }
        try await eventually { printed == ["0 []"] }
        try await stack.perform { try $0.create(Person.self).age = 18 }
        try await eventually { printed == ["0 []", "1 [[0, 0]]"] }
        following.cancel()
    }

    /// The table of the stores.
    @Test func aStoreIsMadeByAnExpression() throws {
        let stores: [any StorageInterface] = try [
            InMemoryStore(), SQLiteStore(path: scratch("pets.db")), LMDBStore(path: scratch("pets.lmdb")),
            StoreCatalog.standard.store(at: StoreURL(scratch("sqlite:pets2.db"))),
        ]
        for store in stores {
            let stack = try DataStack(Person.self, Dog.self)
            try stack.addStorageAndWait(store)
            #expect(try stack.fetchCount(From<Person>()) == 0)
        }
    }
}
#endif
