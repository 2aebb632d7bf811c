import Foundation
import PolystoreCompatibility
import TestStores
import Testing

// Key paths to fields: CoreStore's README and the examples in its sources for the `Field` property wrappers.

@Suite struct FieldKeyPathTests {
    private func stack(_ store: TestStore = .memory) throws -> DataStack {
        let stack = try DataStack(V2.schema())
        try stack.addStorageAndWait(store.make())
        try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(V2.Keeper.self)
            ann.name = "Ann"
            for (name, species, age) in [("Tom", "Felis", 3), ("Kit", "Felis", 1), (nil, "Lynx", 7)] {
                let cat = try transaction.create(V2.Cat.self)
                (cat.nickname, cat.species, cat.age) = (name, species, age)
                if name != nil { cat.keeper = ann }
                if name == "Tom" { cat.home = Address(street: "Main", city: "Ulm") }
            }
        })
        return stack
    }

    @Test(arguments: TestStore.all) func fieldsAreNamedInRequests(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        #expect(try stack.fetchAll(From<V2.Cat>().orderBy(.descending(\.$age))).map(\.age) == [7, 3, 1])
        #expect(try stack.fetchAll(From<V2.Cat>().orderBy(.ascending(\.$species), .ascending(\.$age))).map(\.age) == [1, 3, 7])
        #expect(try stack.queryValue(From<V2.Cat>().select(Int.self, .sum(\.$age))) == 11)
        #expect(try stack.queryValue(From<V2.Cat>().where(\.$keeper != nil).select(Int.self, .maximum(\.$age))) == 3)
        let groups = try stack.queryAttributes(
            From<V2.Cat>().orderBy(.ascending(\.$species)).select(.attribute(\.$species), .count(as: "n")).groupBy(\.$species))
        #expect(try groups.map { try $0.value("n") as Int? } == [2, 1])
        let loaded = try stack.fetchAll(From<V2.Cat>().where(\.$nickname == "Tom").prefetch(\.$keeper).properties(\.$nickname))
        #expect(loaded.map(\.keeper?.name) == ["Ann"])
    }

    @MainActor @Test func fieldsAreNamedInSections() throws {
        let stack = try stack()
        let monitor = try stack.monitorSectionedList(
            From<V2.Cat>().orderBy(.ascending(\.$species), .ascending(\.$age)), sectionBy: SectionBy(\.$species))
        #expect(monitor.sections.map(\.name) == ["Felis", "Lynx"])
    }

    @Test(arguments: TestStore.all) func fieldsAreComparedInConditions(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        func ages(_ condition: Where<V2.Cat>) throws -> [Int] {
            try stack.fetchAll(From<V2.Cat>().where(condition).orderBy(.ascending(\.$age))).map(\.age)
        }
        #expect(try ages(\.$age == 3) == [3] && ages(\.$age != 3) == [1, 7])
        #expect(try ages(\.$age < 3) == [1] && ages(\.$age <= 3) == [1, 3] && ages(\.$age > 3) == [7] && ages(\.$age >= 3) == [3, 7])
        #expect(try ages(\.$nickname == nil) == [7] && ages(\.$nickname != "Tom") == [1, 7])
        #expect(try ages(\.$species == "Lynx" || \.$nickname == "Kit") == [1, 7])
        #expect(try ages([1, 7] ~= \.$age) == [1, 7] && ages(["Tom", "Ann"] ~= \.$nickname) == [3])
        #expect(try ages(["Tom", nil] ~= \.$nickname) == [3, 7])
        #expect(try ages(\.$mood == .calm) == [1, 3, 7] && ages(\.$mood == .lively) == [])
        #expect(try ages(\.$home == Address(street: "Main", city: "Ulm")) == [3] && ages(\.$home == nil) == [1, 7])
        let ann = try #require(try stack.fetchOne(From<V2.Keeper>()))
        #expect(try ages(\.$keeper == ann) == [1, 3] && ages(\.$keeper != ann) == [7] && ages(\.$keeper == nil) == [7])
        #expect(try ages(\.$keeper == ann.objectID) == [1, 3] && ages(\.$keeper != ann.objectID) == [7])
        #expect(try ages([ann] ~= \.$keeper) == [1, 3])
        #expect(try ages(V2.Cat.where { $0.$keeper == ann && $0.$home == nil }) == [1])
    }

    @Test func aDeletedObjectIsRefusedInAConditionOfAField() throws {
        let stack = try stack()
        #expect {
            try stack.perform(synchronous: { transaction in
                let ann = try #require(try transaction.fetchOne(From<V2.Keeper>()))
                try transaction.delete([ann])
                _ = try transaction.fetchAll(From<V2.Cat>().where(\.$keeper == ann))
            })
        } throws: { ($0 as? StorageError)?.code == .invalidPredicate }
    }

    @Test(arguments: TestStore.all) func pathsOverRelationshipsAreConnected(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        func ages(_ condition: Where<V2.Cat>) throws -> [Int] {
            try stack.fetchAll(From<V2.Cat>().where(condition).orderBy(.ascending(\.$age))).map(\.age)
        }
        #expect(try ages((\.$keeper ~ \.$name) == "Ann") == [1, 3] && ages((\.$keeper ~ \.$name) != "Ann") == [7])
        #expect(try ages((\.keeper ~ \.name) == "Ann") == [1, 3] && ages((\.$keeper ~ \.$name) < "B") == [1, 3])
        #expect(try ages(["Ann", "Bob"] ~= (\.$keeper ~ \.$name)) == [1, 3])
        #expect(try ages((\.$keeper ~ \.$cats).count() > 1) == [1, 3] && ages((\.keeper ~ \.cats).count() == 3) == [])
        #expect(try ages((\.$keeper ~ \.$cats ~ \.$nickname).any() == "Kit") == [1, 3])
        #expect(try ages((\.$keeper ~ \.$cats ~ \.$age).all() < 3) == [7] && ages((\.$keeper ~ \.$cats ~ \.$age).none() > 3) == [1, 3, 7])
        #expect(try ages((\.keeper ~ \.cats ~ \.keeper ~ \.name).any() == "Ann") == [1, 3])
        #expect(try stack.fetchCount(From<V2.Keeper>().where((\V2.Keeper.$cats).count() == 2)) == 1)
        #expect(try stack.fetchCount(From<V2.Keeper>().where((\V2.Keeper.cats).count() > 2)) == 0)
    }

    @Test(arguments: TestStore.all) func fieldsOfTheEarlierFormAreCompared(_ store: TestStore) throws {
        let stack = try makeStack()
        try stack.addStorageAndWait(store.make())
        defer { for storage in stack.storages { try? storage.erase() } }
        try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(Master.self)
            ann.name.value = "Ann"
            for age in 1...3 {
                let dog = try transaction.create(Dog.self)
                dog.age.value = age
                if age > 1 { (dog.master.value, dog.nickname.value) = (ann, "n\(age)") }
            }
        })
        func ages(_ condition: Where<Dog>) throws -> [Int] {
            try stack.fetchAll(From<Dog>().where(condition).orderBy(.descending(\.age))).map(\.age.value)
        }
        let ann = try #require(try stack.fetchOne(From<Master>().where(\.name == "Ann")))
        #expect(try ages(\.age >= 2) == [3, 2] && ages(\.nickname == "n2") == [2] && ages(\.nickname == nil) == [1])
        #expect(try ages(\.master == ann) == [3, 2] && ages(\.master == nil) == [1] && ages([1, 3] ~= \.age) == [3, 1])
        #expect(try ages((\.master ~ \.name) == "Ann") == [3, 2] && ages((\.master ~ \.pets).count() == 2) == [3, 2])
        #expect(try ages(Dog.where { $0.master == ann && $0.age > 2 }) == [3])
    }

    @Test func keyPathsAreTexts() {
        #expect(String(keyPath: \V2.Cat.$nickname) == "nickname" && String(keyPath: \V2.Cat.nickname) == "nickname")
        #expect(String(keyPath: \V2.Cat.$keeper) == "keeper" && String(keyPath: \V2.Keeper.$cats) == "cats")
        #expect(String(keyPath: \V2.Cat.$species) == "species" && String(keyPath: \Dog.master) == "master")
        #expect(String(keyPath: \V2.Cat.keeper?.$name) == "keeper.name")
        let path: Where<V2.Cat>.Expression = (\.$keeper ~ \.$name)
        #expect(String(keyPath: path) == "keeper.name")
    }

    @Test func aVirtualFieldHasNoStoredName() throws {
        let stack = try stack()
        #expect { try stack.fetchAll(From<V2.Cat>().orderBy(.ascending(\.$title))) } throws: {
            ($0 as? StorageError)?.code == .invalidPredicate
        }
    }
}
