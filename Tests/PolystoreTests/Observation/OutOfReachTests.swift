import Foundation
import Polystore
import PolystoreStorage
import Synchronization
import TestStores
import Testing

/// What observers of one store are told while another one of their stack does not answer.
@Suite struct OutOfReachTests {
    private static let schema = Result {
        try Schema(
            entities: [Entity("Left", attributes: [Attribute("x", .int64)]), Entity("Right", attributes: [Attribute("x", .int64)])],
            configurations: ["Left": ["Left"], "Right": ["Right"]])
    }

    private let left = From<DynamicObject>(entity: "Left"), right = From<DynamicObject>(entity: "Right")

    /// A stack of a store that answers and one that can be out of reach, with an object each.
    private func stack() throws -> (DataStack, HookedStore) {
        let hooked = HookedStore(TestStore.memory.make(configuration: "Right")), stack = try DataStack(schema: Self.schema.get())
        try stack.addStorageAndWait(TestStore.memory.make(configuration: "Left"))
        try stack.addStorageAndWait(hooked)
        try add("Left", stack)
        try add("Right", stack)
        return (stack, hooked)
    }

    private func add(_ entity: String, _ stack: DataStack) throws {
        try stack.perform(synchronous: { try $0.create(Into<DynamicObject>(entity: entity)).setValue(.int(1), for: "x") })
    }

    /// A stack with Ann, whose partner is Ben.
    private func people() throws -> (DataStack, HookedStore) {
        let store = HookedStore(TestStore.memory.make()), stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { transaction in
            let ann = try transaction.create(Person.self), ben = try transaction.create(Person.self)
            (ann.name, ben.name) = ("Ann", "Ben")
            ann.partner = ben
        })
        return (stack, store)
    }

    private func lose(_ store: HookedStore) {
        store.setHook { event throws(StorageError) in if event == .beginRead { throw StorageError(.connectionLost, "out of reach") } }
    }

    private func waits(_ holds: () throws -> Bool) rethrows -> Bool {
        for _ in 0..<20_000 {
            if try holds() { return true }
            usleep(1000)
        }
        return false
    }

    @Test func aContextMergesReachableStores() throws {
        let (stack, hooked) = try stack(), view = stack.makeViewContext()
        let lefts = try view.monitorList(left), rights = try view.monitorList(right)
        let object = try #require(try view.fetchOne(right)), monitor = try view.monitorObject(object)
        lose(hooked)
        try stack.perform(synchronous: { try #require(try $0.fetchOne(right)).setValue(.int(2), for: "x") })
        try add("Right", stack)
        try add("Left", stack)
        #expect(throws: StorageError.self) { try view.merge() }
        #expect(lefts.numberOfObjects == 2)
        #expect(try view.fetchAll(left).count == 2)
        #expect(throws: StorageError.self) { try view.fetchAll(right) }
        #expect(rights.numberOfObjects == 1)
        #expect(try object.value("x") == .int(1))
        // Nothing of it is lost, and each object is told with the change.
        hooked.setHook(nil)
        #expect(try view.fetchAll(right).count == 2)
        #expect(rights.numberOfObjects == 2)
        #expect(try object.value("x") == .int(2))
        #expect(monitor.object === object)
        #expect(try !view.merge())
    }

    @Test func aResetRefetchesListsOfReachableStores() throws {
        let (stack, hooked) = try stack(), view = stack.makeViewContext(merging: .onDemand)
        let rights = try view.monitorList(right), lefts = try view.monitorList(left)
        try add("Left", stack)
        try add("Right", stack)
        lose(hooked)
        view.reset()
        #expect(lefts.numberOfObjects == 2 && rights.numberOfObjects == 1)
        #expect(view.loadError?.code == .connectionLost)
        hooked.setHook(nil)
        try view.merge()
        #expect(rights.numberOfObjects == 2)
    }

    /// The values of a row that no list has read are never placeholders without an error.
    @Test func aPositionThatCannotBeReadHasNoSilentValues() throws {
        let (stack, store) = try people(), view = stack.makeViewContext()
        let list = try view.monitorList(From<Person>().orderBy(.ascending(\.name)))
        lose(store)
        #expect(list[safe: 0] == nil)
        #expect(view.loadError?.code == .connectionLost)
        let object = list[0]
        #expect(throws: StorageError.self) { try object.load(\.name) }
        store.setHook(nil)
        #expect(try object.load(\.name) == "Ann")
        #expect(list[0].name == "Ann" && !list[0].isDeleted)
    }

    /// A relationship of a row that no list has read is not empty without an error.
    @Test func relationshipsOfAPositionThatCannotBeReadAreUnfetched() throws {
        let (stack, store) = try people(), view = stack.makeViewContext()
        let list = try view.monitorList(From<Person>().orderBy(.ascending(\.name)))
        lose(store)
        let ann = list[0]
        #expect(throws: StorageError.self) { try ann.load(\.partner) }
        store.setHook(nil)
        #expect(try ann.load(\.partner)?.name == "Ben")
    }

    /// An observation that began with a placeholder would report the value as a change later.
    @Test func anObservationWhoseValueCannotBeLoadedDoesNotBegin() throws {
        let (stack, store) = try people(), view = stack.makeViewContext()
        let ann = try #require(try view.fetchOne(From<Person>().where(\.name == "Ann")))
        var partners: [String?] = []
        lose(store)
        let error = #expect(throws: StorageError.self) {
            _ = try view.observe(ann, \.partner, notifyInitial: true) { partners.append($1.newValue??.name) }
        }
        #expect(error?.code == .connectionLost)
        store.setHook(nil)
        let observation = try view.observe(ann, \.partner) { partners.append($1.newValue??.name) }
        try stack.perform(synchronous: { try #require(try $0.fetchOne(From<Person>().where(\.name == "Ann"))).age = 9 })
        try view.merge()
        #expect(partners == [])
        withExtendedLifetime(observation) {}
    }

    /// A change whose value cannot be loaded is reported by the next merge, also if nothing is committed until then.
    @Test func anObservationReportsAValueThatWasOutOfReach() throws {
        let (stack, store) = try people(), view = stack.makeViewContext(merging: .onDemand)
        let ann = try #require(try view.fetchOne(From<Person>().where(\.name == "Ann")))
        var partners: [String?] = []
        let observation = try view.observe(ann, \.partner) { partners.append($1.newValue??.name) }
        try stack.perform(synchronous: { transaction in
            let cid = try transaction.create(Person.self)
            cid.name = "Cid"
            try #require(try transaction.fetchOne(From<Person>().where(\.name == "Ann"))).partner = cid
        })
        // The commit is read, and the partner is not.
        let isRead = Mutex(false)
        store.setHook { event throws(StorageError) in
            guard event == .beginRead else { return }
            let wasRead = isRead.withLock { isRead in
                defer { isRead = true }
                return isRead
            }
            if wasRead { throw StorageError(.connectionLost, "out of reach") }
        }
        #expect(throws: StorageError.self) { try view.merge() }
        #expect(throws: StorageError.self) { try view.merge() }
        #expect(partners == [])
        store.setHook(nil)
        try view.merge()
        #expect(partners == ["Cid"])
        #expect(try !view.merge())
        withExtendedLifetime(observation) {}
    }

    @Test func anObservationOfATransactionReportsNoPlaceholder() throws {
        let (stack, store) = try people(), transaction = stack.beginUnsafe()
        let ann = try #require(try transaction.fetchOne(From<Person>().where(\.name == "Ann")))
        var partners: [String?] = []
        lose(store)
        let plain = transaction.observe(ann, \.partner) { partners.append($1.newValue??.name) }
        let initial = transaction.observe(ann, \.partner, notifyInitial: true) {
            partners.append("\($1.oldValue == nil) \($1.newValue??.name ?? "")")
        }
        #expect(partners == [])
        store.setHook(nil)
        #expect(throws: StorageError.self) { try transaction.flush() }
        try transaction.rollback()
        #expect(partners == ["true Ben"])
        withExtendedLifetime((plain, initial)) {}
    }

    @Test func publishersOfOtherStoresGoOn() throws {
        let (stack, hooked) = try stack()
        let rights = try stack.publishList(right.limit(10)), lefts = try stack.publishList(left)
        lose(hooked)
        try add("Right", stack)
        for count in 2...4 {
            try add("Left", stack)
            #expect(waits { lefts.snapshot.count == count })
        }
        #expect(rights.snapshot.count == 1)
        hooked.setHook(nil)
        #expect(waits { rights.snapshot.count == 2 })
    }
}
