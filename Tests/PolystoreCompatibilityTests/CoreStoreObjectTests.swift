import Foundation
import PolystoreCompatibility
import TestStores
import Testing

private final class Kennel: CoreStoreObject {
    @Field.Relationship("hounds") var hounds: Set<Hound>
    @Field.Relationship("founder") var founder: Hound?
}

private final class Hound: CoreStoreObject {
    @Field.Relationship("kennel", inverse: \.$hounds) var kennel: Kennel?
    @Field.Relationship("rivals") var rivals: Set<Hound>
}

@Suite(.serialized) struct CoreStoreObjectTests {
    private func add(_ store: TestStore, to stack: DataStack) throws { try stack.addStorageAndWait(store.make()) }

    private func stack(_ store: TestStore = .memory) throws -> DataStack {
        let stack = try makeStack()
        try add(store, to: stack)
        return stack
    }

    @Test func aVersionWithoutALockLogsIt() throws {
        let logger = RecordingLogger()
        let schema = try logger.recording {
            let schema = try V2.schema()
            _ = try V2.schema(lock: schema.versionLock)
            return schema
        }
        let text = "notice: version \"V2\" of the model is not locked; its versionLock is:\n\(schema.versionLock)"
        #expect(logger.messages("not locked").filter { $0.contains("\"V2\"") } == [text])
    }

    @Test func aForgottenInverseIsLogged() throws {
        let logger = RecordingLogger()
        try logger.recording {
            _ = try CoreStoreSchema(modelVersion: "hounds", entities: [Entity<Kennel>("Kennel"), Entity<Hound>("Hound")])
        }
        #expect(
            logger.messages("without an inverse").filter { $0.contains("Hound") } == [
                "warning: relationships without an inverse, whose changes are not seen from the other object: Hound.rivals (to Hound), "
                    + "Kennel.founder (to Hound); declare the inverse on one of the two sides with \"inverse:\""
            ])
    }

    @Test(arguments: TestStore.all) func valuesAreKept(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        try stack.perform(synchronous: { transaction in
            let dog = try transaction.create(Dog.self)
            dog.species.value = "Canis"
            dog.nickname.value = "Rex"
            dog.age.value += 3
            let master = try transaction.create(Master.self)
            master.name.value = "Ann"
            master.notes.value = ["a", "b"]
            master.pets.value = [dog]
            let walk = try transaction.create(Walk.self)
            #expect(walk.meters.value == 100)
            master.walks.value = [walk, try transaction.create(Walk.self)]
            #expect(dog.master.value === master)
        })
        try stack.read(synchronous: { source in
            let dog = try source.fetchAll(From<Dog>())[0]
            #expect(dog.species.value == "Canis" && dog.nickname.value == "Rex" && dog.age.value == 3)
            #expect(dog.master.value?.name.value == "Ann")
            #expect(dog.master.value?.pets.value == [dog])
            #expect(dog.master.value?.walks.value.count == 2)
            #expect(dog.master.value?.notes.value == ["a", "b"])
            #expect(dog.entityName == "Dog" && dog.master.value?.entityName == "Person")
        })
        try stack.perform(synchronous: { transaction in
            try transaction.fetchAll(From<Dog>())[0].nickname.value = nil
            try transaction.delete(transaction.fetchAll(From<Master>()))
        })
        #expect(try stack.fetchAll(From<Animal>()).map { ($0 as? Dog)?.nickname.value } == [nil])
        #expect(try stack.fetchCount(From<Walk>()) == 0)
    }

    @Test func closuresNameFields() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            for age in [3, 0, 2] {
                let dog = try transaction.create(Dog.self)
                dog.age.value = age
                dog.species.value = "s\(age)"
            }
        })
        let keyPath: String = Dog.keyPath { $0.nickname }
        #expect(keyPath == "nickname")
        #expect(try stack.fetchAll(From<Dog>().where(Dog.where { $0.age < 1 })).map(\.age.value) == [0])
        #expect(
            try stack.fetchAll(From<Dog>().where(Dog.where { $0.age > 1 && $0.species != "s9" }).orderBy(Dog.ascending { $0.age }))
                .map(\.age.value) == [2, 3])
    }

    @Test(arguments: TestStore.all) func fieldsOfTheLaterForm(_ store: TestStore) throws {
        let stack = try DataStack(V2.schema())
        try add(store, to: stack)
        defer { for storage in stack.storages { try? storage.erase() } }
        try stack.perform(synchronous: { transaction in
            let one = try transaction.create(V2.Cat.self), other = try transaction.create(V2.Cat.self)
            #expect(one.id != other.id)
            #expect(one.title == " ?")
            one.species = "Felis"
            one.nickname = "Tom"
            one.mood = .lively
            one.weight = 4.4
            #expect(one.weight == 4)
            one.home = Address(street: "Main", city: "Ulm")
            one.tags = ["a", "b"]
            let keeper = try transaction.create(V2.Keeper.self)
            keeper.name = "Ann"
            keeper.cats = [one, other]
            keeper.favorites = [other, one]
            #expect(one.keeper === keeper)
        })
        try stack.read(synchronous: { source in
            let tom = try #require(try source.fetchOne(From<V2.Cat>().where(V2.Cat.where { $0.$nickname == "Tom" })))
            #expect(tom.title == "Felis Tom" && tom.mood == .lively && tom.weight == 4)
            #expect(tom.home == Address(street: "Main", city: "Ulm") && tom.tags == ["a", "b"])
            #expect(tom.keeper?.cats.count == 2 && tom.keeper?.favorites.last === tom)
            let other = try #require(tom.keeper?.favorites.first)
            #expect(other.home == nil && other.tags == [] && other.nickname == nil)
        })
        #expect {
            try stack.perform(synchronous: { transaction in
                let keeper = try transaction.fetchAll(From<V2.Keeper>())[0]
                keeper.favorites.append(try transaction.create(V2.Cat.self))
            })
        } throws: { ($0 as? StorageError)?.code == .validationFailed }
    }

    @Test func aVersionLockIsCheckedAndNamesTheChanges() throws {
        let schema = try V2.schema()
        _ = try V2.schema(lock: schema.versionLock)
        var hashes = schema.versionLock.hashes
        hashes["Cat"] = [1, 2, 3, 4]
        let lock = VersionLock(hashes)
        #expect { try V2.schema(lock: lock) } throws: { error in
            let text = "\(error)"
            return text.contains("changed: Cat") && text.contains("\"Keeper\": [0x")
        }
        #expect(try DataStack(schema).modelSchema.printCoreStoreSchema() == "\(schema.versionLock)")
    }

    @Test func aHistoryWorksWithTheLastVersionOfItsChain() throws {
        let old = try CoreStoreSchema(
            modelVersion: "V1", entities: [Entity<Walk>("Walk"), Entity<Animal>("Animal"), Entity<Dog>("Dog"), Entity<Master>("Person")])
        let new = try V2.schema()
        let history = try SchemaHistory(new, old, migrationChain: ["V1", "V2"])
        #expect(history.currentModelVersion == "V2" && history.models.count == 3)
        #expect(try SchemaHistory(allSchema: [old, new], exactCurrentModelVersion: "V1").currentModelVersion == "V1")
        let stack = try DataStack(old, new, migrationChain: ["V1": "V2"])
        try stack.addStorageAndWait(TestStore.memory.make())
        try stack.perform(synchronous: { _ = try $0.create(V2.Keeper.self) })
        #expect(try stack.fetchCount(From<V2.Keeper>()) == 1)
    }

    @Test func theFileOutlivesTheObjects() throws {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-\(UUID().uuidString).db")
        do {
            let stack = try makeStack()
            let store = try stack.addStorageAndWait(SQLiteStore(fileURL: url))
            try stack.perform(synchronous: { try $0.create(Dog.self).age.value = 9 })
            try stack.removeStorage(store)
        }
        let stack = try makeStack()
        let store = try stack.addStorageAndWait(SQLiteStore(fileURL: url))
        #expect(try stack.fetchAll(From<Dog>()).map(\.age.value) == [9])
        try store.erase()
    }

    @Test func aFieldOutlivesItsObject() throws {
        let stack = try stack()
        try stack.perform(synchronous: { try $0.create(Dog.self).age.value = 9 })
        let age = try stack.fetchAll(From<Dog>())[0].age
        #expect(age.value == 9)
    }
}
