import Foundation
import Polystore
import RawSessions
import TestStores
import Testing

/// Stacks of two versions of a model over one store, while one takes the place of the other.
@Suite(.enabled(if: TestStore.server != nil)) struct RollingMigrationTests {
    private static let v2: [ManagedObject.Type] = [V2.Animal.self, V2.Dog.self, V2.Person.self]

    @Test func programsOfBothVersionsWork() throws {
        let name = "polystore_\(UUID().uuidString.lowercased())"
        func store() -> any StorageInterface { TestStore.postgresql.make(named: name) }
        let older = try DataStack(V1.Animal.self, V1.Dog.self, V1.Person.self, version: "V1")
        try older.addStorageAndWait(store())
        try older.perform(synchronous: { transaction in
            let ann = try transaction.create(V1.Person.self), rex = try transaction.create(V1.Dog.self)
            ann.firstName = "Ann"
            rex.nickname = "Rex"
            rex.age = 7
            rex.master = ann
        })
        let history = try SchemaHistory(
            older.schema, DataStack(V2.Animal.self, V2.Dog.self, V2.Person.self, version: "V2").schema, migrationChain: ["V1", "V2"],
            models: Self.v2)
        let desk = store()
        defer { try? desk.erase() }
        let phases = try RollingMigration(OpenStore(opening: desk, OpenRequest(schema: nil, createIfMissing: false)))
        try phases.expand(to: history)

        // A stack of the newer version waits until it is filled, and does not migrate by itself.
        let early = try DataStack(schemaHistory: history)
        let error = #expect(throws: StorageError.self) { try early.addStorageAndWait(store()) }
        #expect(error?.code == .busy && error?.message.contains("backfill") == true)
        try phases.backfill()
        let newer = try DataStack(schemaHistory: history)
        try newer.addStorageAndWait(store())

        let rex = try #require(try newer.fetchOne(From<V2.Dog>()))
        #expect(rex.name == "Rex" && rex.age == 7 && rex.master?.firstName == "Ann" && rex.master?.fullName == nil)
        try newer.perform(synchronous: { transaction in
            guard let ann = try transaction.fetchOne(From<V2.Person>()) else { return }
            ann.fullName = "Ann Lee"
            ann.lastName = "Lee"
            let tom = try transaction.create(V2.Dog.self)
            tom.name = "Tom"
            tom.age = 3
            tom.master = ann
        })
        let ann = try #require(try older.fetchOne(From<V1.Person>()))
        #expect(ann.lastName == "Lee" && Set(ann.pets.map { $0.nickname }) == ["Rex", "Tom"])
        try older.perform(synchronous: { transaction in
            for dog in try transaction.fetchAll(From<V1.Dog>()) { dog.age += 1 }
        })
        #expect(try newer.fetchAll(From<V2.Dog>().orderBy(.ascending(\.age))).map(\.age) == [4, 8])

        try phases.contract()
        try newer.perform(synchronous: { transaction in
            for dog in try transaction.fetchAll(From<V2.Dog>()) { dog.age += 1 << 40 }
        })
        #expect(try newer.fetchAll(From<V2.Dog>().orderBy(.ascending(\.age))).map(\.age) == [4 + 1 << 40, 8 + 1 << 40])
        #expect(try newer.fetchOne(From<V2.Person>())?.fullName == "Ann Lee")
        #expect {
            try older.fetchAll(From<V1.Dog>())
        } throws: {
            ($0 as? StorageError)?.code == .schemaMismatch
        }
        let late = try DataStack(V1.Animal.self, V1.Dog.self, V1.Person.self, version: "V1")
        #expect(throws: StorageError.self) { try late.addStorageAndWait(store()) }
    }
}
