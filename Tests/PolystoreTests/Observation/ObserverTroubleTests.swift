import Foundation
import Polystore
import PolystoreStorage
import TestStores
import Testing

/// Observers that ask for something while they are told, lists that fail for a while, and stores that come and go under them.
@Suite struct ObserverTroubleTests {
    private func stack(_ store: TestStore, _ people: KeyValuePairs<String, Int> = ["Ann": 1, "Ben": 2, "Cid": 3]) throws -> DataStack {
        let stack = try store.stack()
        try add(people, stack)
        return stack
    }

    private func add(_ people: KeyValuePairs<String, Int>, _ stack: DataStack) throws {
        try stack.perform(synchronous: { transaction in
            for (name, age) in people {
                let person = try transaction.create(Person.self)
                (person.name, person.age) = (name, age)
            }
        })
    }

    private func edit(_ name: String, _ stack: DataStack, _ body: (Person) -> Void) throws {
        try stack.perform(synchronous: { body(try #require(try $0.fetchOne(From<Person>().where(\.name == name)))) })
    }

    private let byName = From<Person>().orderBy(.ascending(\.name))
    private let byAge = From<Person>().orderBy(.descending(\.age))

    /// Does something when it is told.
    private final class Asking: ListObjectObserver, ObjectObserver {
        typealias ListEntityType = Person
        typealias ObjectEntityType = Person

        var willChange: () -> Void = {}, didUpdate: () -> Void = {}, didChange: () -> Void = {}
        private(set) var calls: [String] = []

        func take() -> [String] {
            defer { calls = [] }
            return calls
        }

        private func note(_ call: String, _ body: inout () -> Void) {
            calls.append(call)
            let once = body
            body = {}
            once()
        }

        private var nothing: () -> Void = {}
        func listMonitorWillChange(_ monitor: ListMonitor<Person>) { note("will", &willChange) }
        func listMonitorDidChange(_ monitor: ListMonitor<Person>) { note("did", &didChange) }
        func listMonitorWillRefetch(_ monitor: ListMonitor<Person>) { note("willRefetch", &nothing) }
        func listMonitorDidRefetch(_ monitor: ListMonitor<Person>) { note("didRefetch", &nothing) }
        func listMonitor(_ monitor: ListMonitor<Person>, didUpdateObject object: Person, atIndexPath indexPath: IndexPath) {
            note("update \(object.name)", &didUpdate)
        }
        func objectMonitor(_ monitor: ObjectMonitor<Person>, willUpdateObject object: Person) { note("willUpdate", &nothing) }
        func objectMonitor(
            _ monitor: ObjectMonitor<Person>, didUpdateObject object: Person, changedPersistentKeys: Set<String>
        ) { note("didUpdate \(changedPersistentKeys.sorted())", &nothing) }
        func objectMonitor(_ monitor: ObjectMonitor<Person>, didDeleteObject object: Person) { note("didDelete", &nothing) }
    }

    // MARK: Observers that ask for another list

    @Test(arguments: TestStore.all) func anObserverRefetchesAListThatIsNotYetNotified(_ store: TestStore) throws {
        let stack = try stack(store), view = stack.makeViewContext()
        let first = try view.monitorList(byName), second = try view.monitorList(byName)
        let asking = Asking(), told = Asking()
        first.addObserver(asking)
        second.addObserver(told)
        asking.didChange = { try? second.refetch(From<Person>().where(\.age > 1).orderBy(.ascending(\.name))) }
        try add(["Aaa": 0, "Zoe": 9], stack)
        try view.merge()
        #expect(told.take() == ["will", "did", "willRefetch", "didRefetch"])
        #expect(try second.objectsInAllSections().map(\.name) == ["Ben", "Cid", "Zoe"])
        try edit("Ben", stack) { $0.age = 20 }
        try view.merge()
        #expect(told.take() == ["will", "update Ben", "did"])
    }

    @Test(arguments: TestStore.all) func anObserverRefetchesItsOwnListInACallback(_ store: TestStore) throws {
        let stack = try stack(store), view = stack.makeViewContext()
        let monitor = try view.monitorList(byName), asking = Asking(), other = Asking()
        monitor.addObserver(asking)
        monitor.addObserver(other)
        let few = From<Person>().where(\.age > 2).orderBy(.ascending(\.name))
        asking.willChange = { try? monitor.refetch(few) }
        try edit("Ann", stack) { $0.age = 7 }
        try view.merge()
        #expect(asking.take() == ["will", "did", "willRefetch", "didRefetch"])
        #expect(try monitor.objectsInAllSections().map(\.name) == ["Ann", "Cid"])
        _ = other.take()
        asking.didUpdate = { try? monitor.refetch(self.byName) }
        _ = try stack.perform(synchronous: { try $0.updateAll(From<Person>(), .set(\.age, to: 9)) })
        try view.merge()
        #expect(monitor.numberOfObjects == 3)
        #expect(Array(asking.take().suffix(3)) == ["did", "willRefetch", "didRefetch"])
        #expect(Array(other.take().suffix(2)) == ["willRefetch", "didRefetch"])
    }

    @Test(arguments: TestStore.all) func aContextIsResetByAnObserver(_ store: TestStore) throws {
        let stack = try stack(store), view = stack.makeViewContext()
        let ann = try #require(try view.fetchOne(byName))
        let monitor = try view.monitorList(byName), asking = Asking()
        monitor.addObserver(asking)
        asking.willChange = { view.reset() }
        try edit("Ann", stack) { $0.age = 7 }
        try view.merge()
        #expect(monitor[0].age == 7 && monitor[0] !== ann)
        try edit("Ann", stack) { $0.age = 8 }
        try view.merge()
        #expect(monitor[0].age == 8)
    }

    @Test(arguments: TestStore.all) func observationsContinueAfterAReset(_ store: TestStore) throws {
        let stack = try stack(store), view = stack.makeViewContext()
        let ann = try #require(try view.fetchOne(byName)), ben = try #require(try view.fetchOne(byName.offset(1)))
        var seen: [Int?] = []
        let observation = try view.observe(ann, \.age) { seen.append($1.newValue) }
        let monitor = try view.monitorObject(ben), recorder = Asking()
        monitor.addObserver(recorder)
        view.reset()
        try edit("Ann", stack) { $0.age = 7 }
        try view.merge()
        #expect(seen == [7])
        try edit("Ann", stack) { $0.age = 8 }
        _ = try stack.perform(synchronous: { try $0.deleteAll(From<Person>().where(\.name == "Ben")) })
        view.reset()
        #expect(seen == [7, 8] && recorder.take() == ["didDelete"] && monitor.isObjectDeleted)
        observation.invalidate()
    }

    @Test func aTransactionNotifiesAllObserversBeforeTheNextRound() throws {
        let stack = try stack(.memory), work = stack.beginUnsafe()
        let list = try work.monitorList(byName), asking = Asking(), recorder = Asking()
        list.addObserver(asking)
        let ann = try #require(try work.fetchOne(byName)), monitor = try work.monitorObject(ann)
        monitor.addObserver(recorder)
        asking.didChange = {
            ann.age = 8
            try? work.flush()
        }
        ann.age = 7
        try work.flush()
        #expect(asking.take() == ["will", "update Ann", "did", "will", "update Ann", "did"])
        #expect(recorder.take() == ["willUpdate", "didUpdate [\"age\"]", "willUpdate", "didUpdate [\"age\"]"])
    }

    @Test(arguments: TestStore.all) func refetchesOnAThreadFollowEachOther(_ store: TestStore) async throws {
        let stack = try stack(store), view = stack.makeViewContext(), monitor = try view.monitorList(byName)
        func refetch(_ from: From<Person>) async throws { try await monitor.refetch(asynchronous: from, isolation: nil) }
        try await refetch(byAge)
        #expect(try monitor.objectsInAllSections().map(\.name) == ["Cid", "Ben", "Ann"] && !monitor.isPendingRefetch)
        try await refetch(byName)
        #expect(try monitor.objectsInAllSections().map(\.name) == ["Ann", "Ben", "Cid"] && !monitor.isPendingRefetch)
    }

    // MARK: Lists that fail

    @Test(arguments: TestStore.all) func aListThatFailsDoesNotStopTheOthers(_ store: TestStore) throws {
        let stack = try stack(store), view = stack.makeViewContext()
        let quotient = ValueExpression<Person, Int>(60) / ValueExpression(\.age)
        let failing = try view.monitorList(From<Person>().orderBy(.ascending(quotient))), other = try view.monitorList(byName)
        let ben = try #require(try view.fetchOne(byName.offset(1))), recorder = Asking()
        other.addObserver(recorder)
        try edit("Ben", stack) { $0.age = 0 }
        try view.merge()
        #expect(ben.age == 0 && recorder.take() == ["will", "update Ben", "did"])
        #expect(view.loadError?.code == .divisionByZero)
        #expect(failing.numberOfObjects == 3)
        try edit("Ben", stack) { $0.age = 6 }
        try view.merge()
        #expect(recorder.take() == ["will", "update Ben", "did"])
        #expect(try failing.objectsInAllSections().map(\.name) == ["Ben", "Cid", "Ann"])
    }

    @Test(arguments: TestStore.all) func aPublisherThatFailsDoesNotStopTheOthers(_ store: TestStore) async throws {
        let stack = try stack(store)
        let quotient = ValueExpression<Person, Int>(60) / ValueExpression(\.age)
        let failing = try stack.publishList(From<Person>().orderBy(.ascending(quotient))), other = try stack.publishList(byName)
        var updates = other.updates.makeAsyncIterator(), failed = failing.updates.makeAsyncIterator()
        _ = await updates.next()
        _ = await failed.next()
        try edit("Ben", stack) { $0.age = 0 }
        #expect(await updates.next()?.changes?.updated.count == 1)
        try edit("Ben", stack) { $0.age = 6 }
        #expect(await updates.next()?.changes?.updated.count == 1)
        let names = await failed.next()?.snapshot.compactMap { try? stack.fetchExisting($0)?.name }
        #expect(names == ["Ben", "Cid", "Ann"])
    }

    @Test(arguments: TestStore.all) func aLimitIsAnyNumber(_ store: TestStore) throws {
        let stack = try stack(store), view = stack.makeViewContext()
        let all = try view.monitorList(byName.limit(.max)), rest = try view.monitorList(byName.offset(1).limit(.max))
        try add(["Abe": 4], stack)
        try view.merge()
        #expect(try all.objectsInAllSections().map(\.name) == ["Abe", "Ann", "Ben", "Cid"])
        #expect(try rest.objectsInAllSections().map(\.name) == ["Ann", "Ben", "Cid"])
    }

    @Test func reportedObjectsAreReadInBatches() throws {
        let store = TrackedStore(TestStore.memory.make()), stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(store)
        _ = try stack.perform(synchronous: { try $0.insertAll(Into<Person>(), sources: 0..<1000) { $0.name = "P\($1)" } })
        let view = stack.makeViewContext(), monitor = try view.monitorList(byName), asking = Asking()
        monitor.addObserver(asking)
        _ = try stack.perform(synchronous: { try $0.updateAll(From<Person>(), .set(\.age, to: 9)) })
        let updating = store.reads
        try view.merge()
        #expect(asking.take().count == 1002 && store.reads - updating < 10)
        _ = try stack.perform(synchronous: { try $0.deleteAll(From<Person>()) })
        let deleting = store.reads
        try view.merge()
        #expect(asking.take() == ["will", "did"] && !monitor.hasObjects && store.reads - deleting < 10)
    }

    // MARK: Front ends that are slow

    @Test(arguments: TestStore.all) func aSlowSubscriberReceivesAnObjectThatLeftAndReturnedAsUpdated(_ store: TestStore) async throws {
        let stack = try stack(store), people = try stack.publishList(From<Person>().where(\.age < 10).orderBy(.ascending(\.name)))
        var updates = people.updates.makeAsyncIterator()
        _ = await updates.next()
        for age in [20, 7] {
            try edit("Ben", stack) { $0.age = age }
            while people.snapshot.count != (age == 20 ? 2 : 3) { await Task.yield() }
        }
        let update = try #require(await updates.next())
        #expect(update.changes?.updated == [IndexPath(indexes: [0, 1])] && update.snapshot.updatedItemIDs.count == 1)
    }

    @Test(arguments: TestStore.all) @MainActor func aCallbackReportsAllChangesSinceThePreviousOne(_ store: TestStore) async throws {
        let stack = try stack(store), people = try stack.publishList(byName), observer = Asking()
        var updated: Set<ObjectID<Person>> = []
        people.addObserver(observer) { updated.formUnion($0.snapshot.updatedItemIDs) }
        // The main actor is not free before both are published.
        let ids = people.snapshot.itemIDs
        for (number, name) in ["Ann", "Ben"].enumerated() {
            try edit(name, stack) { $0.age = 20 }
            while people.snapshot.updatedItemIDs != [ids[number]] { usleep(1000) }
        }
        while updated.isEmpty { await Task.yield() }
        #expect(updated == Set(ids.prefix(2)))
        // What has come since is not among what was updated.
        updated = []
        try add(["Dan": 4], stack)
        while people.snapshot.count != 4 { usleep(1000) }
        let dan = people.snapshot[3]
        try edit("Dan", stack) { $0.age = 20 }
        while people.snapshot.updatedItemIDs != [dan] { usleep(1000) }
        try edit("Cid", stack) { $0.age = 20 }
        while people.snapshot.updatedItemIDs != [ids[2]] { usleep(1000) }
        while updated.isEmpty { await Task.yield() }
        #expect(updated == [ids[2]])
    }

    /// While the main actor is busy a call waits that was made for the first change; by its turn both are there, and the second is not told again.
    @Test @MainActor func aDelayedCallbackReportsNoChangeTwice() async throws {
        let stack = try stack(.memory), people = try stack.publishList(byName), observer = Asking()
        let ids = people.snapshot.itemIDs
        var told: [ObjectID<Person>] = []
        people.addObserver(observer) { told += $0.snapshot.updatedItemIDs }
        for round in 0..<200 {
            for (number, name) in ["Ann", "Ben"].enumerated() {
                try edit(name, stack) { $0.age = 20 + round }
                while people.snapshot.updatedItemIDs != [ids[number]] { usleep(50) }
                // The task of the calls comes to wait for the main actor.
                if number == 0 { usleep(500) }
            }
            while told.count < 2 { await Task.yield() }
            for _ in 0..<5 { await Task.yield() }
            try #require(Set(told) == Set(ids.prefix(2)) && told.count == 2)
            told = []
        }
    }

    /// A task that an observer begins in a call sees what is published after it.
    @Test @MainActor func aTaskBegunInACallbackReceivesLaterChanges() async throws {
        let stack = try stack(.memory), people = try stack.publishList(byName), observer = Asking()
        var counts: [Int] = [], task: Task<Int, any Error>?
        people.addObserver(observer) { people in
            counts.append(people.snapshot.count)
            if task != nil { return }
            task = Task { @MainActor in
                try add(["Eve": 4], stack)
                while people.snapshot.count < 5 { try await Task.sleep(for: .milliseconds(1)) }
                return people.snapshot.count
            }
        }
        try add(["Dan": 4], stack)
        while task == nil { await Task.yield() }
        #expect(try await task?.value == 5)
        #expect(counts.first == 4)
    }

    /// Nobody says what a statement of SQL has changed: what stays where it was may be another all the same.
    @Test(arguments: TestStore.all.filter { $0 == .sqlite || $0 == .postgresql })
    func unknownChangesRefreshTheWholeList(_ store: TestStore) throws {
        final class Rows: ListTarget {
            typealias Object = Person
            var shown: [String] = []
            func reloadData(_ snapshot: ListSnapshot<Person>) {}
            func performBatchUpdates(_ stage: ListStage<Person>, animated: Bool, show: @escaping () -> Void) {}
        }
        let stack = try stack(store), view = stack.makeViewContext(), rows = Rows()
        let provider = try ListDataProvider<Rows>(context: view).bind(rows) { person, _ in rows.shown.append("\(person.name) \(person.age)")
        }
        try provider.query(orderBy: .ascending(\.name))
        rows.shown = []
        _ = try stack.perform(synchronous: {
            try $0.execute("UPDATE \"Person\" SET \"age\" = 9, \"_version\" = \"_version\" + 1 WHERE \"name\" = 'Ben'")
        })
        try view.merge()
        #expect(rows.shown == ["Ann 1", "Ben 9", "Cid 3"])
    }

    // MARK: Stores that come and go

    @Test(arguments: TestStore.all) func aRemovedStoreDoesNotAffectMonitorsOfOthers(_ store: TestStore) async throws {
        let stack = try stack(store), view = stack.makeViewContext()
        let first = try #require(stack.storages.first)
        let ann = try #require(try view.fetchOne(byName)), published = try stack.publishObject(ann.objectID)
        let monitor = try view.monitorList(byName), watched = try view.monitorObject(ann)
        let people = try stack.publishList(byName)
        #expect(monitor[0] === ann && published.snapshot != nil && watched.object === ann)
        try stack.removeStorage(first)
        try view.merge()
        #expect(!monitor.hasObjects && ann.name == "Ann")
        try stack.add(TestStore.memory.make())
        try add(["Zoe": 1], stack)
        #expect(try view.fetchAll(byName).map(\.name) == ["Zoe"])
        try view.merge()
        #expect(monitor[0].name == "Zoe")
        while people.snapshot.count != 1 || published.snapshot != nil { await Task.yield() }
        #expect(people.snapshot.count == 1)
    }

    @Test func anAddedStoreIsSeenByExistingMonitors() async throws {
        let name = "polystore_\(UUID().uuidString.lowercased())"
        let filled = try DataStack(Person.self, Animal.self, Dog.self)
        try filled.add(TestStore.sqlite.make(named: name))
        try add(["Zoe": 1], filled)
        for storage in filled.storages { try filled.removeStorage(storage) }
        let stack = try stack(.memory), work = stack.beginUnsafe(), view = stack.makeViewContext(merging: .onDemand)
        let list = try work.monitorList(byName), monitor = try view.monitorList(byName)
        try stack.add(TestStore.sqlite.make(named: name))
        #expect(try work.fetchAll(byName).map(\.name) == ["Ann", "Ben", "Cid", "Zoe"])
        try work.flush()
        #expect(list.numberOfObjects == 4 && list[3].name == "Zoe")
        try await monitor.refetch(asynchronous: byName, isolation: nil)
        #expect(monitor.numberOfObjects == 4 && monitor[3].name == "Zoe")
    }
}

extension DataStack {
    /// Adds a store whose kind is not known.
    fileprivate func add(_ storage: some StorageInterface) throws { try addStorageAndWait(storage) }
}
