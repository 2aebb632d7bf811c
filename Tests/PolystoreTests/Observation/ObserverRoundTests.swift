import Foundation
import Polystore
import PolystoreStorage
import TestStores
import Testing

/// What observers are told at the joints: when they come and go in a call, when their context is reset, when a list is fetched anew.
@Suite struct ObserverRoundTests {
    private func stack(_ store: any StorageInterface) throws -> DataStack {
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(store)
        try stack.perform(synchronous: { transaction in
            for (age, name) in ["Ann", "Ben", "Cid"].enumerated() {
                let person = try transaction.create(Person.self)
                (person.name, person.age) = (name, age + 1)
            }
        })
        return stack
    }

    private func edit(_ name: String, _ stack: DataStack, source: String? = nil, _ body: (Person) -> Void) throws {
        try stack.perform(
            sourceIdentifier: source, synchronous: { body(try #require(try $0.fetchOne(From<Person>().where(\.name == name)))) })
    }

    private let byName = From<Person>().orderBy(.ascending(\.name))
    private let byAge = From<Person>().orderBy(.descending(\.age))

    private func names(_ monitor: ListMonitor<Person>) throws -> [String] { try monitor.objectsInAllSections().map(\.name) }

    /// Writes down what it is told, and does something at some of it.
    private final class Witness: ListObjectObserver, ObjectObserver {
        typealias ListEntityType = Person
        typealias ObjectEntityType = Person

        private(set) var calls: [String] = []
        var at: [String: () -> Void] = [:]

        func take() -> [String] {
            defer { calls = [] }
            return calls
        }

        private func note(_ call: String) {
            calls.append(call)
            at.removeValue(forKey: call)?()
        }

        func listMonitorWillChange(_ monitor: ListMonitor<Person>) { note("will") }
        func listMonitorDidChange(_ monitor: ListMonitor<Person>) { note("did") }
        func listMonitorWillRefetch(_ monitor: ListMonitor<Person>) { note("willRefetch") }
        func listMonitorDidRefetch(_ monitor: ListMonitor<Person>) { note("didRefetch") }
        func listMonitor(_ monitor: ListMonitor<Person>, didUpdateObject object: Person, atIndexPath indexPath: IndexPath) {
            note("update \(object.name)")
        }
        func objectMonitor(_ monitor: ObjectMonitor<Person>, willUpdateObject object: Person) { note("will \(object.age)") }
        func objectMonitor(_ monitor: ObjectMonitor<Person>, didUpdateObject object: Person, changedPersistentKeys: Set<String>) {
            note("did \(object.age) \(changedPersistentKeys.sorted().joined(separator: ","))")
        }
        func objectMonitor(_ monitor: ObjectMonitor<Person>, didDeleteObject object: Person) { note("deleted") }
    }

    // MARK: Observers that come and go

    @Test func anObserverRemovedInACallbackIsNotNotifiedAgain() throws {
        let stack = try stack(TestStore.memory.make()), view = stack.makeViewContext(), monitor = try view.monitorList(byName)
        let leaving = Witness(), staying = Witness()
        for witness in [leaving, staying] { monitor.addObserver(witness) }
        leaving.at["update Ann"] = { monitor.removeObserver(leaving) }
        _ = try stack.perform(synchronous: { try $0.updateAll(From<Person>(), .set(\.age, to: 9)) })
        try view.merge()
        #expect(leaving.take() == ["will", "update Ann"])
        #expect(staying.take() == ["will", "update Ann", "update Ben", "update Cid", "did"])
    }

    @Test func anObserverAddedInACallbackIsNotifiedFromTheNextChangeOn() throws {
        let stack = try stack(TestStore.memory.make()), view = stack.makeViewContext(), monitor = try view.monitorList(byName)
        let object = try view.monitorObject(monitor[0]), first = Witness(), second = Witness()
        monitor.addObserver(first)
        object.addObserver(first)
        first.at["will"] = { monitor.addObserver(second) }
        first.at["will 1"] = { object.addObserver(second) }
        try edit("Ann", stack) { $0.age = 7 }
        try view.merge()
        #expect(first.take() == ["will", "will 1", "update Ann", "did", "did 7 age"] && second.take() == [])
        try edit("Ann", stack) { $0.age = 8 }
        try view.merge()
        #expect(second.take() == ["will", "will 7", "update Ann", "did", "did 8 age"])
        // The same where the list is fetched anew.
        first.at["willRefetch"] = { monitor.addObserver(Witness()) }
        try monitor.refetch(byAge)
        #expect(second.take() == ["willRefetch", "didRefetch"])
    }

    // MARK: Resets

    @Test(arguments: TestStore.all) func aResetReportsEarlierCommits(_ store: TestStore) throws {
        let stack = try stack(store.make()), view = stack.makeViewContext()
        let ann = try #require(try view.fetchOne(byName)), monitor = try view.monitorObject(ann), witness = Witness()
        monitor.addObserver(witness)
        try stack.perform(synchronous: { transaction in
            let ann = try #require(try transaction.fetchOne(byName))
            ann.age = 7
            ann.pets = [try transaction.create(Dog.self)]
        })
        view.reset()
        #expect(witness.take() == ["will 1", "did 7 age,pets"])
        #expect(monitor.object?.age == 7 && monitor.object !== ann)
        try view.merge()
        view.reset()
        #expect(witness.take() == [])
        try edit("Ann", stack) { $0.age = 8 }
        try view.merge()
        #expect(witness.take() == ["will 7", "did 8 age"])
    }

    @Test(arguments: TestStore.all) func aResetDoesNotChangeTheTargetsOfRelationships(_ store: TestStore) throws {
        let stack = try stack(store.make()), view = stack.makeViewContext()
        try stack.perform(synchronous: { transaction in
            let people = try transaction.fetchAll(byName)
            people[0].partner = people[1]
        })
        let ann = try #require(try view.fetchOne(byName))
        var partners: [String?] = [], pets = 0
        let observations = [
            try view.observe(ann, \.partner) { partners.append($1.newValue??.name) } as AnyObject,
            try view.observe(ann, \.pets) { _, _ in pets += 1 },
        ]
        view.reset()
        #expect(partners == [] && pets == 0)
        try stack.perform(synchronous: { transaction in
            let people = try transaction.fetchAll(byName)
            people[0].partner = people[2]
        })
        view.reset()
        #expect(partners == ["Cid"] && pets == 0 && observations.count == 2)
    }

    @Test func aFailedResetIsCompletedByTheNextMerge() async throws {
        let store = TrackedStore(TestStore.memory.make()), stack = try stack(store), view = stack.makeViewContext()
        let monitor = try view.monitorList(byName), ann = try #require(monitor[safe: 0]), object = try view.monitorObject(ann)
        var ages: [Int?] = []
        let observation = try view.observe(ann, \.age) { ages.append($1.newValue) }
        let witness = Witness()
        monitor.addObserver(witness)
        object.addObserver(witness)
        try edit("Ann", stack) { $0.age = 7 }
        store.refusesReads = true
        view.reset()
        #expect(view.loadError?.code == .connectionLost && witness.take() == [])
        #expect(throws: StorageError.self) { try view.merge() }
        store.refusesReads = false
        #expect(try view.merge())
        #expect(witness.take() == ["willRefetch", "didRefetch", "will 1", "did 7 age"] && ages == [7])
        #expect(monitor[0] === object.object && monitor[0].age == 7)
        try edit("Ann", stack) { $0.age = 8 }
        try view.merge()
        #expect(witness.take() == ["will", "will 7", "update Ann", "did", "did 8 age"] && ages == [7, 8])
        observation.invalidate()
    }

    @Test @MainActor func aFailedResetIsRetriedAutomatically() async throws {
        let store = TrackedStore(TestStore.memory.make()), stack = try stack(store), view = stack.viewContext
        let monitor = try view.monitorList(byName), witness = Witness()
        monitor.addObserver(witness)
        store.refusesReads = true
        // No commit comes after which the context would merge anyway.
        view.reset()
        #expect(view.loadError?.code == .connectionLost && witness.calls == [])
        store.refusesReads = false
        for _ in 0..<1000 where witness.calls.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
        #expect(witness.take() == ["willRefetch", "didRefetch"])
        // Nor does anybody merge or fetch: it is the isolation of the context that follows.
        _ = try stack.perform(synchronous: { try $0.create(Person.self).name = "Dan" })
        for _ in 0..<1000 where monitor.numberOfObjects != 4 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(try names(monitor) == ["Ann", "Ben", "Cid", "Dan"])
    }

    // MARK: Refetches on a thread

    @Test @MainActor func aResetDoesNotDiscardARefetch() async throws {
        let store = TrackedStore(TestStore.memory.make()), stack = try stack(store), view = stack.viewContext
        let monitor = try view.monitorList(byName), byAge = byAge
        store.hold()
        let refetch = Task { try await monitor.refetch(asynchronous: byAge) }
        while store.held == 0 { await Task.yield() }
        // Whoever holds has let the others go by then.
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { store.release() }
        view.reset()
        try await refetch.value
        #expect(try names(monitor) == ["Cid", "Ben", "Ann"] && !monitor.isPendingRefetch)
        try edit("Ann", stack) { $0.age = 9 }
        try view.merge()
        #expect(try names(monitor) == ["Ann", "Cid", "Ben"])
    }

    @Test @MainActor func aRefetchThatFailsDoesNotDiscardTheOneBefore() async throws {
        let store = TrackedStore(TestStore.memory.make()), stack = try stack(store), view = stack.viewContext
        let monitor = try view.monitorList(byName), byAge = byAge
        store.hold()
        let good = Task { try await monitor.refetch(asynchronous: byAge) }
        while store.held == 0 { await Task.yield() }
        await #expect(throws: StorageError.self) { try await monitor.refetch(asynchronous: From<Person>().offset(-1)) }
        #expect(monitor.isPendingRefetch)
        store.release()
        try await good.value
        #expect(try names(monitor) == ["Cid", "Ben", "Ann"] && !monitor.isPendingRefetch)
    }

    @Test @MainActor func theLatestRefetchTakesEffect() async throws {
        let store = TrackedStore(TestStore.memory.make()), stack = try stack(store), view = stack.viewContext
        let monitor = try view.monitorList(byName), byAge = byAge
        store.hold()
        let early = Task { try await monitor.refetch(asynchronous: byAge) }
        while store.held == 0 { await Task.yield() }
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.05) { store.release() }
        try monitor.refetch(byName.limit(2))
        try await early.value
        #expect(try names(monitor) == ["Ann", "Ben"] && !monitor.isPendingRefetch)
    }

    @Test(arguments: TestStore.all) func sectionsStayInEveryRefetch(_ store: TestStore) async throws {
        let stack = try stack(store.make()), view = stack.makeViewContext(), sections = SectionBy<Person>(\.name)
        let monitor = try view.monitorSectionedList(byName, sectionBy: sections), young = byName.where(\.age < 3)
        try await monitor.refetch(asynchronous: young, isolation: nil)
        #expect(monitor.sections.map(\.name) == ["Ann", "Ben"])
        try await monitor.refetch(asynchronous: young, sectionBy: nil, isolation: nil)
        #expect(monitor.numberOfSections == 1 && monitor.numberOfObjects == 2)
        let publisher = try stack.publishList(byName, sectionBy: sections)
        try publisher.refetch(young)
        #expect(publisher.snapshot.sectionIDs == ["Ann", "Ben"])
        try publisher.refetch(young, sectionBy: nil)
        #expect(publisher.snapshot.numberOfSections == 1)
    }
}
