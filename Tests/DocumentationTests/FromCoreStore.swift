#if Macros
import Foundation
import PolystoreCompatibility
import PolystoreInMemory
import PolystoreMacros
import PolystoreSQLite
import Testing

/// The samples of the guide for users of CoreStore.
enum FromCoreStore {
    /// A model as CoreStore declares it.
    enum Fields {
        class Person: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Stored("age") var age: Int = 0
            @Field.Relationship("pets", inverse: \.$owner, deleteRule: .cascade) var pets: Set<Pet>
        }

        class Pet: CoreStoreObject {
            @Field.Stored("name") var name: String = ""
            @Field.Relationship("owner") var owner: Person?
        }
    }

    /// The same model with the macro.
    @Model final class Person: ManagedObject {
        var name: String = ""
        var age: Int = 0
        @Relationship(inverse: \Pet.owner, deleteRule: .cascade) var pets: Set<Pet>
    }

    @Model final class Pet: ManagedObject {
        var name: String = ""
        @Relationship var owner: Person?
    }
}

extension FromCoreStore.Fields {
    @Suite struct Samples {
        @Test func fieldsAreStoredAndQueried() async throws {
            let path = temporaryPath()
            let dataStack = try DataStack(
                CoreStoreSchema(modelVersion: "V1", entities: [Entity<Person>("Person"), Entity<Pet>("Pet")]))
            try dataStack.addStorageAndWait(SQLiteStore(fileURL: URL(fileURLWithPath: path)))
            defer { for store in dataStack.storages { try? store.erase() } }
            let result: Result<Int, any Error> = await withCheckedContinuation { continuation in
                dataStack.perform(
                    asynchronous: { (transaction) -> Int in
                        let ann = try transaction.create(Into<Person>())
                        ann.name = "Ann"
                        ann.age = 42
                        ann.pets.insert(try transaction.create(Into<Pet>()))
                        return ann.pets.count
                    },
                    completion: { (result) -> Void in
                        continuation.resume(returning: result)
                    }
                )
            }
            #expect(try result.get() == 1)
            let people = try dataStack.fetchAll(From<Person>(), Where("age > %d", 30), OrderBy(.ascending("name")))
            let oldest = try dataStack.queryValue(From<Person>().where(\.age > 30).select(Int.self, .maximum(\.age)))
            #expect(people.map(\.name) == ["Ann"] && oldest == 42)
        }
    }
}

extension FromCoreStore {
    @Suite struct Samples {
        @Test func theMacroDeclaresTheSameModel() throws {
            let fields = try DataStack(
                CoreStoreSchema(modelVersion: "V1", entities: [Entity<Fields.Person>("Person"), Entity<Fields.Pet>("Pet")]))
            #expect(try DataStack(Person.self, Pet.self, version: "V1").schema.hash == fields.schema.hash)
        }

        @Test func transactionsAreAsynchronousFunctions() async throws {
            let dataStack = try filled()
            let id = try await dataStack.perform { transaction in
                let dan = try transaction.create(Person.self)
                dan.name = "Dan"
                return dan.objectID
            }
            let dan = try dataStack.fetchExisting(id)
            #expect(dan?.name == "Dan")
        }

        @Test func requestsAreChains() throws {
            let dataStack = try filled()
            let people = try dataStack.fetchAll(
                From<Person>().where(\.age > 30).orderBy(.ascending(\.name)).limit(10))
            let ages = try dataStack.queryAttributes(
                From<Person>().select(.attribute(\.age), .count(as: "count")).groupBy(\.age))
            for row in ages {
                print(row["age"] ?? .null, try row.value("count", as: Int.self) ?? 0)
            }
            #expect(people.map(\.name) == ["Ann", "Cid"])
            #expect(try ages.map { try $0.value("count", as: Int.self) }.sorted { ($0 ?? 0) < ($1 ?? 0) } == [1, 2])
        }

        @Test func aCancelledTransactionDeletesNothing() async throws {
            let dataStack = try filled()
            let isDryRun = true
            do {
                try await dataStack.perform { transaction in
                    try transaction.deleteAll(From<Person>())
                    if isDryRun { try transaction.cancel() }
                }
            } catch let error as CoreStoreError where error.code == .cancelled {
                print("nothing was deleted")
            }
            #expect(try dataStack.fetchCount(From<Person>()) == 3)
        }

        @Test func aPublisherGivesSnapshots() async throws {
            let dataStack = try filled()
            let people = try dataStack.publishList(From<Person>().where(\.age > 30).orderBy(.ascending(\.name)))
            async let added: Void = dataStack.perform { try $0.create(Person.self).age = 50 }
            for await snapshot in people.snapshots where snapshot.numberOfItems == 3 {
                #expect(try dataStack.fetchExisting(snapshot.itemIDs).map(\.age) == [50, 42, 42])
                break
            }
            try await added
        }

        private func filled() throws -> DataStack {
            let dataStack = try DataStack(Person.self, Pet.self)
            try dataStack.addStorageAndWait(InMemoryStore())
            try dataStack.perform(synchronous: { transaction in
                for (name, age) in [("Ann", 42), ("Ben", 25), ("Cid", 42)] {
                    let person = try transaction.create(Person.self)
                    (person.name, person.age) = (name, age)
                }
            })
            return dataStack
        }
    }
}
#endif
