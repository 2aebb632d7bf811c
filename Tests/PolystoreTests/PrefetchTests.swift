import Foundation
import Polystore
import PolystoreInMemory
import RawSessions
import Synchronization
import TestStores
import Testing

/// What is loaded in advance is there when the store is gone.
@Suite struct PrefetchTests {
    private func pets(_ kind: TestStore) throws -> (DataStack, any StorageInterface) {
        let store = kind.make()
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { transaction in
            var before: Person?
            for index in 0..<20 {
                let person = try transaction.create(Person.self)
                person.name = "P\(index)"
                if index % 2 == 1 { person.partner = before }
                before = person
                for number in 0..<(index % 4) {
                    let dog = try transaction.create(Dog.self)
                    dog.name = "D\(index).\(number)"
                    dog.owner = person
                }
            }
        })
        return (stack, store)
    }

    @Test(arguments: TestStore.all) func toManyAndToOneRelationshipsArePrefetched(_ kind: TestStore) throws {
        let (stack, store) = try pets(kind)
        let people = try stack.fetchAll(From<Person>().prefetch(\.pets).prefetch(\.partner?.pets))
        try stack.removeStorage(store)
        #expect(people.count == 20)
        for (index, person) in people.enumerated() {
            #expect(person.pets.map(\.name).sorted() == (0..<(index % 4)).map { "D\(index).\($0)" })
            #expect(person.pets.allSatisfy { $0.owner === person })
            #expect(person.partner === people[index ^ 1])
        }
    }

    @Test(arguments: TestStore.all) func nestedRelationshipsArePrefetched(_ kind: TestStore) throws {
        let (stack, store) = try pets(kind)
        var dogs = try stack.fetchAll(From<Dog>().where(\.name == "D3.1").prefetch(\.owner?.partner))
        let owner: Person
        do {
            let dog = try #require(dogs.first)
            owner = try #require(dog.owner)
        }
        try stack.removeStorage(store)
        #expect(owner.name == "P3")
        #expect(dogs[0].owner?.partner?.name == "P2")
        // What was loaded in advance goes with the objects that it was loaded for.
        weak let partner = dogs[0].owner?.partner
        #expect(partner != nil)
        dogs.removeAll()
        #expect(partner == nil)
    }

    @Test(arguments: TestStore.all) func objectsThatWerePrefetchedForEachOtherAreReleased(_ kind: TestStore) throws {
        let (stack, store) = try pets(kind), view = stack.makeViewContext()
        defer { try? stack.removeStorage(store) }
        var people = try view.fetchAll(From<Person>().prefetch(\.pets))
        var dogs = try view.fetchAll(From<Dog>().prefetch(\.owner))
        weak let person = people.first { !$0.pets.isEmpty }
        weak let dog = dogs.first
        #expect(person != nil && dog != nil)
        people.removeAll()
        dogs.removeAll()
        #expect(person == nil && dog == nil)
    }

    /// The second fetch of the dogs finds people that retain dogs of another fetch, and not those of this one.
    @Test(arguments: TestStore.all) func whatRetainsOthersIsRetained(_ kind: TestStore) throws {
        let (stack, store) = try pets(kind), view = stack.makeViewContext()
        let request = From<Person>().where(\.name == "P3").prefetch(\.partner)
        let people = try view.fetchAll(request)
        _ = try view.fetchAll(From<Person>().where(\.name == "P2").prefetch(\.pets))
        let again = try view.fetchAll(request)
        try stack.removeStorage(store)
        let partner = try #require(people[0].partner)
        #expect(again[0] === people[0] && partner.name == "P2" && partner.pets.map(\.name).sorted() == ["D2.0", "D2.1"])
    }

    /// Each fetch adds to what the others have prefetched for the same objects; a repetition replaces what the first one has.
    @Test(arguments: TestStore.all) func fetchesRetainWhatTheyPrefetchBesideEachOther(_ kind: TestStore) throws {
        let (stack, store) = try pets(kind), view = stack.makeViewContext()
        let request = From<Person>().where(\.name == "P3")
        let people = try view.fetchAll(request.prefetch(\.partner))
        weak let partner = people[0].partner
        _ = try view.fetchAll(request.prefetch(\.pets))
        weak let pet = people[0].pets.first
        _ = try view.fetchAll(request.prefetch(\.partner))
        #expect(partner != nil && pet != nil)
        try stack.perform(synchronous: { transaction in
            let person = try transaction.fetchOne(request)
            person?.partner = nil
            person?.pets = []
        })
        _ = try view.fetchAll(request.prefetch(\.partner).prefetch(\.pets))
        #expect(partner == nil && pet == nil)
        try stack.removeStorage(store)
    }

    /// Each object of the chain was prefetched for the one before, and the thread has a small stack.
    @Test func aLongChainOfPrefetchedObjectsIsReleased() throws {
        let count = 3000, number = Attribute("number", .int64)
        let stack = try DataStack(
            schema: Schema(entities: [
                Entity("Link", attributes: [number], relationships: [Relationship("next", to: "Link")], indexes: [Index(["number"])])
            ]))
        try stack.addStorageAndWait(InMemoryStore())
        try stack.perform(synchronous: { transaction in
            var next: DynamicObject?
            for number in (0..<count).reversed() {
                let link = try transaction.create(Into<DynamicObject>(entity: "Link"))
                try link.setValue(.int(Int64(number)), for: "number")
                try link.setObject(next, for: "next")
                next = link
            }
        })
        let isReleased = Mutex<Result<Bool, any Error>?>(nil)
        let thread = Thread {
            let result = Result { try Self.releaseChain(stack, count) }
            isReleased.withLock { $0 = result }
        }
        thread.stackSize = 256 << 10
        thread.start()
        while isReleased.withLock({ $0 == nil }) { Thread.sleep(forTimeInterval: 0.01) }
        #expect(try isReleased.withLock { try #require($0).get() })
    }

    /// Retains only the first object of the chain, and returns whether the last one lives no longer than that.
    private static func releaseChain(_ stack: DataStack, _ count: Int) throws -> Bool {
        let view = stack.makeViewContext()
        weak var last: DynamicObject?
        do {
            let links = try (0..<count).reduce(into: [DynamicObject]()) { links, number in
                let isNumber = Where<DynamicObject>(.compare(.path(PropertyPath("number")), .equal, .value(.int(Int64(number)))))
                let found = try view.fetchAll(From<DynamicObject>(entity: "Link").where(isNumber).prefetch(named: ["next"]))
                last = found[0]
                if number == 0 { links = found }
            }
            if last == nil || links.count != 1 { return false }
        }
        return last == nil
    }

    @Test(arguments: TestStore.all) func manyToManyAndOrderedRelationshipsArePrefetched(_ kind: TestStore) throws {
        let store = kind.make()
        let stack = try DataStack(StringEntity.self, EntityEntity.self, CellEntity.self)
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { transaction in
            let texts = try (0..<6).map { index in
                let text = try transaction.create(StringEntity.self)
                text.key = "k\(index)"
                text.row = Int16(index)
                return text
            }
            texts[0].friends = [texts[1], texts[2]]
            texts[1].friends = [texts[2]]
            texts[0].ranking = [texts[5], texts[3], texts[4]]
        })
        let texts = try stack.fetchAll(
            From<StringEntity>().where(\.row < 3).orderBy(.ascending(\.row)).prefetch(\.friends).prefetch(\.fans).prefetch(\.ranking))
        try stack.removeStorage(store)
        #expect(texts.map { $0.friends.map(\.key).sorted() } == [["k1", "k2"], ["k2"], []])
        #expect(texts.map { $0.fans.map(\.key).sorted() } == [[], ["k0"], ["k0", "k1"]])
        #expect(texts.map { $0.ranking.map(\.key) } == [["k5", "k3", "k4"], [], []])
    }

    @Test func anAttributeCannotBePrefetched() throws {
        let (stack, _) = try pets(.memory)
        let error = #expect(throws: StorageError.self) { try stack.fetchAll(From<Person>().prefetch(\.name)) }
        #expect(error?.code == .invalidPredicate)
    }

    /// The methods of objects without a class throw what they cannot load, and the transaction can continue.
    @Test(arguments: TestStore.all) func objectsWithoutAClassThrowWhatCannotBeLoaded(_ kind: TestStore) throws {
        let store = kind.make()
        defer { try? store.erase() }
        func number(_ name: String) -> Attribute { Attribute(name, .int64, isOptional: true) }
        let doorsOfHouse = Relationship("doors", to: "Door", .toMany, inverse: "house")
        let houseOfDoor = Relationship("house", to: "House", .toOne, inverse: "doors")
        let schema = try Schema(
            entities: [
                Entity("House", attributes: [number("x"), number("y")], relationships: [doorsOfHouse]),
                Entity("Door", attributes: [number("x")], relationships: [houseOfDoor]),
            ])
        let stack = try DataStack(schema: schema), houses = From<DynamicObject>(entity: "House").properties(named: ["x"])
        let doors = From<DynamicObject>(entity: "Door")
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { transaction in
            let house = try transaction.create(Into<DynamicObject>(entity: "House"))
            try house.setValue(.int(7), for: "y")
            try transaction.create(Into<DynamicObject>(entity: "Door")).setObject(house, for: "house")
        })
        func code(_ work: () throws -> Void) -> StorageError.Code? {
            do { try work() } catch { return (error as? StorageError)?.code }
            return nil
        }
        stack.relationships = .strict
        try stack.perform(synchronous: { transaction in
            // The destination of the door is not in memory yet.
            let door = try #require(try transaction.fetchOne(doors))
            #expect(code { _ = try door.object("house") } == .unplannedLoad)
            for name in ["x", "y", "doors"] { #expect(code { _ = try door.object(name) } == .invalidPredicate) }
            let house = try #require(try transaction.fetchOne(houses))
            #expect(code { _ = try house.value("y") } == .unplannedLoad)
            #expect(code { _ = try house.objects("doors") } == .unplannedLoad)
            #expect(code { _ = try house.object("doors") } == .invalidPredicate)
            try house.setValue(.int(1), for: "x")
            // Nor does a refused assignment that is caught end the transaction.
            let other = try transaction.create(Into<DynamicObject>(entity: "Door"))
            try transaction.delete(other)
            #expect(code { try other.setValue(.int(1), for: "x") } == .readOnly)
            // An object of another entity with the same key.
            #expect(code { try door.setObject(door, for: "house") } == .validationFailed)
            #expect(code { try door.setObject(other, for: "house") } == .validationFailed)
            #expect(code { try other.setObject(house, for: "house") } == .readOnly)
            let added = try transaction.create(Into<DynamicObject>(entity: "House"))
            #expect(code { try added.setObjects([door, other], for: "doors") } == .validationFailed)
            #expect(try added.objects("doors").isEmpty)
            // Only the methods for relationships keep both sides.
            for value in [Value.int(5), .null] { #expect(code { try door.setValue(value, for: "house") } == .invalidPredicate) }
            try transaction.delete(added)
        })
        stack.relationships = .lazy
        let house = try #require(try stack.fetchOne(houses)), door = try #require(try stack.fetchOne(doors))
        #expect(try house.value("x") == .int(1) && house.value("y") == .int(7))
        #expect(try house.objects("doors").count == 1 && door.object("house") != nil)
        let other = try stack.fetchOne(doors)
        let others = try stack.fetchOne(houses)
        #expect(code { try door.setObject(nil, for: "house") } == .readOnly)
        #expect(code { try house.setObjects([], for: "doors") } == .readOnly)
        // A detached transaction needs all values of an object before its first change.
        let detached = stack.beginUnsafe(), edited = try #require(try detached.fetchOne(houses))
        try stack.removeStorage(store)
        #expect(code { try edited.setValue(.int(2), for: "x") } == .storeClosed)
        #expect(try edited.value("x") == .int(1) && !edited.hasChanges)
        #expect(code { _ = try others?.value("y") } == .storeClosed)
        #expect(code { _ = try others?.objects("doors") } == .storeClosed)
        #expect(code { _ = try other?.object("house") } == .storeClosed)
    }
}
