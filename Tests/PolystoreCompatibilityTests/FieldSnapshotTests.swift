import Foundation
import PolystoreCompatibility
import TestStores
import Testing

@Suite struct FieldSnapshotTests {
    private func stack(_ store: TestStore = .memory) throws -> DataStack {
        let stack = try DataStack(V2.schema())
        try stack.addStorageAndWait(store.make())
        try stack.perform(synchronous: { transaction in
            let cat = try transaction.create(V2.Cat.self), keeper = try transaction.create(V2.Keeper.self)
            (cat.nickname, cat.age, cat.mood) = ("Tom", 3, .lively)
            (cat.home, cat.tags) = (Address(street: "Main", city: "Ulm"), ["a", "b"])
            keeper.name = "Ann"
            (keeper.cats, keeper.favorites) = ([cat], [cat])
        })
        return stack
    }

    @Test(arguments: TestStore.all) func aSnapshotHasTheValuesOfFields(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        let cat = try #require(try stack.fetchOne(From<V2.Cat>())), keeper = try #require(try stack.fetchOne(From<V2.Keeper>()))
        let snapshot = try #require(try cat.asSnapshot(in: stack))
        #expect(snapshot.$nickname == "Tom" && snapshot.$age == 3 && snapshot.$mood == .lively && snapshot.$species == "")
        #expect(snapshot.$home == Address(street: "Main", city: "Ulm") && snapshot.$tags == ["a", "b"])
        #expect(snapshot.$keeper == keeper.objectID)
        let other = try #require(try keeper.asSnapshot(in: stack))
        #expect(other.$cats == [cat.objectID] && other.$favorites == [cat.objectID])
    }

    @Test func anAssignmentChangesOnlyTheSnapshot() throws {
        let stack = try stack()
        let cat = try #require(try stack.fetchOne(From<V2.Cat>())), keeper = try #require(try stack.fetchOne(From<V2.Keeper>()))
        let snapshot = try #require(try cat.asSnapshot(in: stack))
        var edited = snapshot
        edited.$nickname = "Kit"
        edited.age = 4
        edited.$home = nil
        edited.$tags = ["c"]
        edited.$keeper = nil
        #expect(edited.$nickname == "Kit" && edited.nickname == "Kit" && edited.$age == 4 && edited.$home == nil)
        #expect(edited.$tags == ["c"] && edited.$keeper == nil && edited.keeper == nil && edited != snapshot)
        #expect(edited.changedKeys(since: snapshot) == ["nickname", "age", "home", "tags", "keeper"])
        #expect(snapshot.$nickname == "Tom" && cat.nickname == "Tom")
        var list = try #require(try keeper.asSnapshot(in: stack))
        (list.$cats, list.$favorites) = ([], [])
        #expect(list.cats == [] && list.favorites == [])
    }

    @Test func aSnapshotInATransactionHasItsChanges() throws {
        let stack = try stack()
        try stack.perform(synchronous: { transaction in
            let cat = try #require(try transaction.fetchOne(From<V2.Cat>())), keeper = try #require(cat.keeper)
            let before = try cat.asSnapshot(in: transaction)
            #expect(try before == stack.snapshot(of: cat.objectID))
            cat.nickname = "Kit"
            let new = try transaction.create(V2.Cat.self)
            keeper.cats.insert(new)
            #expect(try cat.asSnapshot(in: transaction)?.$nickname == "Kit" && before?.$nickname == "Tom")
            #expect(try keeper.asSnapshot(in: transaction)?.$cats == [cat.objectID, new.objectID])
            #expect(try new.asSnapshot(in: transaction)?.$keeper == keeper.objectID)
            #expect(try cat.asSnapshot(in: stack)?.$nickname == "Tom")
            try transaction.delete([new])
            #expect(try new.objectID.asSnapshot(in: transaction) == nil)
        })
    }

    @MainActor @Test func aPublisherHasTheValuesAndTheObject() throws {
        let stack = try stack()
        let cat = try #require(try stack.viewContext.fetchOne(From<V2.Cat>()))
        let publisher = try cat.asPublisher(in: stack)
        #expect(publisher.$nickname == "Tom" && publisher.$age == 3 && publisher.object === cat)
        try stack.perform(synchronous: { _ = try $0.deleteAll(From<V2.Keeper>()) })
        #expect(publisher.object == nil)
    }

    @Test func fieldsOfTheEarlierFormAreInSnapshots() throws {
        let stack = try makeStack()
        try stack.addStorageAndWait(TestStore.memory.make())
        try stack.perform(synchronous: { transaction in
            let dog = try transaction.create(Dog.self), master = try transaction.create(Master.self)
            (dog.nickname.value, dog.age.value, dog.master.value) = ("Rex", 5, master)
            (master.notes.value, master.walks.value) = (["a"], [try transaction.create(Walk.self)])
        })
        let dog = try #require(try stack.fetchOne(From<Dog>())), master = try #require(try stack.fetchOne(From<Master>()))
        var snapshot = try #require(try stack.snapshot(of: dog.objectID)), other = try #require(try stack.snapshot(of: master.objectID))
        #expect(snapshot.nickname == "Rex" && snapshot.age == 5 && snapshot.master == master.objectID)
        #expect(other.notes == ["a"] && other.pets == [dog.objectID] && other.walks.count == 1)
        (snapshot.nickname, snapshot.master) = (nil, nil)
        (other.notes, other.walks) = (["b", "c"], [])
        #expect(snapshot.nickname == nil && snapshot.master == nil && other.notes == ["b", "c"] && other.walks == [])
    }

    @Test(arguments: TestStore.all) func aSnapshotHasTheValuesOfGetters(_ store: TestStore) throws {
        let stack = try DataStack(CoreStoreSchema(modelVersion: "V1", entities: [Entity<Gadget>("Gadget")]))
        try stack.addStorageAndWait(store.make())
        defer { for storage in stack.storages { try? storage.erase() } }
        try stack.perform(synchronous: { transaction in
            let saw = try transaction.create(Gadget.self), unnamed = try transaction.create(Gadget.self)
            (saw.name, saw.note, unnamed.note) = ("saw", "old", "new")
            #expect(try saw.asSnapshot(in: transaction)?.$title == "saw/OLD/2")
        })
        for gadget in try stack.fetchAll(From<Gadget>().orderBy(.ascending(\.$note))) {
            let snapshot = try #require(try gadget.asSnapshot(in: stack))
            #expect(snapshot.$name == gadget.name && snapshot.$words == gadget.words && snapshot.$title == gadget.title)
            #expect(snapshot.$note == gadget.note && snapshot.$color == gadget.color)
        }
        let unnamed = try #require(try stack.fetchOne(From<Gadget>().where(\.$note == "NEW")))
        var snapshot = try #require(try unnamed.asSnapshot(in: stack))
        #expect(snapshot.$name == "unnamed" && snapshot.$words == ["a", "unnamed"] && snapshot.$title == "unnamed/NEW/2")
        // The stored value is without the getter.
        #expect(snapshot.value("name") == .string(""))
        snapshot.$name = "axe"
        #expect(snapshot.$name == "axe" && snapshot.$title == "axe/NEW/2" && unnamed.name == "unnamed")
        let publisher = try unnamed.asPublisher(in: stack)
        #expect(publisher.$name == "unnamed" && publisher.$title == "unnamed/NEW/2")
    }

    @Test func aGetterWithoutObjectsInASnapshotIsReported() throws {
        final class Crate: CoreStoreObject {
            @Field.Relationship("content") var content: Crate?
            @Field.Virtual("isFull", customGetter: { object, _ in object.content != nil }) var isFull: Bool
        }
        let stack = try DataStack(CoreStoreSchema(modelVersion: "V1", entities: [Entity<Crate>("Crate")]))
        try stack.addStorageAndWait(TestStore.memory.make())
        try stack.perform(synchronous: { transaction in
            let crate = try transaction.create(Crate.self)
            crate.content = crate
        })
        let crate = try #require(try stack.fetchOne(From<Crate>())), logger = RecordingLogger()
        let snapshot = try #require(try crate.asSnapshot(in: stack))
        #expect(crate.isFull && snapshot.$content == crate.objectID)
        ProcessLogger.replaced(by: logger) { #expect(!snapshot.$isFull) }
        #expect(logger.messages("reads the relationship content in a snapshot").count == 1)
    }
}
