import Foundation
import Observation
import Polystore
import Synchronization
import TestStores
import Testing

extension Person {
    /// A property that is computed in Swift, and differs from the stored one only for large numbers.
    fileprivate var cappedAge: Int { min(age, 9_999) }
}

@Suite struct PublisherTests {
    private func stack(_ store: TestStore, _ people: KeyValuePairs<String, Int> = ["Ann": 1, "Ben": 2, "Cid": 3]) throws -> DataStack {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            for (name, age) in people { try Self.add(name, age, transaction) }
        })
        return stack
    }

    private static func add(_ name: String, _ age: Int, _ transaction: WriteTransaction) throws {
        let person = try transaction.create(Person.self)
        person.name = name
        person.age = age
    }

    private func set(_ age: Int, of name: String, _ stack: DataStack, source: String? = nil) throws {
        try stack.perform(sourceIdentifier: source, synchronous: { try $0.fetchOne(From<Person>().where(\.name == name))?.age = age })
    }

    private func names(_ snapshot: ListSnapshot<Person>, _ stack: DataStack) throws -> [String] {
        try stack.fetchExisting(snapshot.itemIDs).map(\.name)
    }

    private let byAge = From<Person>().orderBy(.ascending(\.age))

    @Test(arguments: TestStore.all) func aListIsPublishedOnceAsItIsAndThenWithEachChange(_ store: TestStore) async throws {
        let stack = try stack(store)
        let people = try stack.publishList(byAge)
        var updates = people.updates.makeAsyncIterator()
        let first = try #require(await updates.next())
        #expect(first.changes == nil && first.snapshot.count == 3)
        try set(10, of: "Ann", stack, source: "form")
        let second = try #require(await updates.next())
        #expect(second.sourceIdentifier as? String == "form")
        #expect(second.changes?.moved == [ListChanges.Move(from: IndexPath(indexes: [0, 0]), to: IndexPath(indexes: [0, 2]))])
        #expect(try names(second.snapshot, stack) == ["Ben", "Cid", "Ann"])
        #expect(second.snapshot.updatedItemIDs == [second.snapshot[2]])
        #expect(people.snapshot == second.snapshot)
        // Who is slow gets one update for several commits, and it leads to the newest list.
        for age in 20..<30 { try set(age, of: "Ben", stack) }
        try await stack.perform { _ = try $0.delete([try #require(try $0.fetchOne(From<Person>().where(\.name == "Cid")))]) }
        while people.snapshot.count == 3 { await Task.yield() }
        let third = try #require(await updates.next())
        #expect(third.changes?.deleted == [IndexPath(indexes: [0, 1])])
        #expect(try names(third.snapshot, stack) == ["Ann", "Ben"])
    }

    @Test func aSubscriberReceivesOneDifferenceForAllMissedChanges() async throws {
        let stack = try stack(.memory)
        let people = try stack.publishList(byAge)
        var slow = people.updates.makeAsyncIterator(), quick = people.updates.makeAsyncIterator()
        let first = try #require(await slow.next()).snapshot
        _ = await quick.next()
        for age in 4..<304 {
            try set(age, of: "Ann", stack)
            #expect(await quick.next()?.changes != nil)
        }
        let update = try #require(await slow.next()), changes = try #require(update.changes)
        #expect(changes == update.snapshot.changes(from: first))
        #expect(changes.moved == [ListChanges.Move(from: IndexPath(indexes: [0, 0]), to: IndexPath(indexes: [0, 2]))])
        // Who has seen nothing begins anew, as does everybody after a refetch.
        var late = people.updates.makeAsyncIterator()
        #expect(await late.next()?.changes == nil)
        try people.refetch(byAge)
        for age in 304..<404 {
            try set(age, of: "Ann", stack)
            _ = await quick.next()
        }
        #expect(await slow.next()?.changes == nil)
    }

    @Test @MainActor func aCallbackMissesNothingThatIsCommittedBeforeItsFirstCall() async throws {
        @MainActor final class Screen { var sources: [String?] = [] }
        let stack = try stack(.memory), screen = Screen()
        let people = try stack.publishList(byAge), ann = try stack.publishObject(try #require(stack.fetchIDs(byAge).first))
        var steps = people.updates.makeAsyncIterator()
        _ = await steps.next()
        people.addObserver(screen) { _, source in screen.sources.append(source as? String) }
        let other = Screen()
        ann.addObserver(other) { _, source in other.sources.append(source as? String) }
        // The main actor is held, so that no task of it begins before the change is published.
        func hold() throws {
            try set(5, of: "Ann", stack, source: "form")
            while people.snapshot.updatedItemIDs.isEmpty || ann.snapshot?.age != 5 { Thread.sleep(forTimeInterval: 0.001) }
        }
        try hold()
        while screen.sources.isEmpty || other.sources.isEmpty { await Task.yield() }
        #expect(screen.sources == ["form"] && other.sources == ["form"])
    }

    @Test(arguments: TestStore.all) func snapshotsPublishersAndMonitorsCanReplaceObjects(_ store: TestStore) throws {
        let stack = try stack(store), view = stack.makeViewContext()
        let id = try #require(try stack.fetchIDs(byAge).first)
        let snapshot = try #require(try stack.snapshot(of: id)), publisher = try stack.publishObject(snapshot)
        let monitor = try view.monitorObject(publisher)
        #expect(publisher.name == "Ann" && publisher.age == 1 && publisher.partner == nil && publisher.pets == [])
        try stack.perform(synchronous: { transaction in
            try transaction.edit(snapshot, expecting: snapshot.version)?.age = 7
            try transaction.edit(publisher)?.name = "Anna"
            try transaction.create(Dog.self).owner = try transaction.edit(monitor)
        })
        #expect(try stack.fetchExisting(snapshot)?.age == 7 && view.fetchExisting(publisher)?.name == "Anna")
        #expect(try stack.fetchCount(From<Dog>().where((\Dog.owner).isObject(snapshot))) == 1)
        #expect(try stack.fetchCount(From<Dog>().where((\Dog.owner).isObject(id))) == 1)
        #expect(throws: StorageError.self) {
            try stack.perform(synchronous: { _ = try $0.edit(snapshot, expecting: snapshot.version) })
        }
        try stack.perform(synchronous: { try $0.delete(publisher) })
        #expect(try stack.fetchExisting(id) == nil && stack.fetchCount(From<Dog>()) == 0)
        try stack.perform(synchronous: { try $0.delete(snapshot) })
    }

    @Test(arguments: TestStore.all) func aRefetchIsPublishedWithoutChanges(_ store: TestStore) async throws {
        let stack = try stack(store)
        let people = try stack.publishList(byAge)
        var updates = people.updates.makeAsyncIterator()
        _ = await updates.next()
        try people.refetch(From<Person>().orderBy(.descending(\.age)).limit(2))
        let update = try #require(await updates.next())
        #expect(update.changes == nil)
        #expect(try names(update.snapshot, stack) == ["Cid", "Ben"])
    }

    @Test(arguments: TestStore.all) func anObjectIsPublishedWithItsValuesAndRelationships(_ store: TestStore) async throws {
        let stack = try stack(store)
        let id = try #require(try stack.fetchIDs(byAge).first)
        let ann = try stack.publishObject(id)
        var snapshots = ann.snapshots.makeAsyncIterator()
        let first = try #require(await snapshots.next() ?? nil)
        #expect(first.name == "Ann" && first.age == 1 && first.pets.isEmpty && first.value("age") == .int(1))
        let rex = try await stack.perform { transaction in
            let rex = try transaction.create(Dog.self)
            rex.name = "Rex"
            rex.owner = try transaction.edit(id)
            return rex.objectID
        }
        let second = try #require(await snapshots.next() ?? nil)
        #expect(second.pets.map(\.key) == [rex.key] && second.changedKeys(since: first) == ["pets"])
        #expect(try stack.snapshot(of: rex)?.owner?.key == id.key)
        try await stack.perform { transaction in _ = try transaction.delete([try #require(try transaction.edit(id))]) }
        let third = try #require(await snapshots.next())
        #expect(third == nil && ann.snapshot == nil)
    }

    @Test func computedPropertiesAreRefused() throws {
        let stack = try stack(.memory), view = stack.makeViewContext()
        func isRefused(_ body: () throws -> Void) -> Bool {
            do {
                try body()
                return false
            } catch {
                return (error as? StorageError)?.code == .invalidPredicate
            }
        }
        let sections = SectionBy<Person>(\.cappedAge), capped = From<Person>().orderBy(.ascending(\.cappedAge))
        #expect(isRefused { _ = try stack.publishList(From<Person>().where(\.cappedAge < 3)) })
        #expect(isRefused { _ = try stack.publishList(capped) })
        #expect(isRefused { _ = try stack.publishList(byAge, sectionBy: sections) })
        #expect(isRefused { _ = try stack.publishList(capped, sectionBy: sections) })
        #expect(isRefused { _ = try view.monitorSectionedList(byAge, sectionBy: sections) })
        #expect(isRefused { _ = try stack.publishValue { try $0.fetchCount(From<Person>().where(\.cappedAge < 3)) } })
        #expect(isRefused { _ = try stack.publishValue(of: Person.self) { try $0.fetchAll(capped).map(\.name) } })
        #expect(try stack.publishList(byAge, sectionBy: SectionBy(\.age)).snapshot.count == 3)
    }

    @Test(arguments: TestStore.all) func aCountIsPublishedWhenItChanges(_ store: TestStore) async throws {
        let stack = try stack(store)
        let count = try stack.publishValue(of: Person.self) { try $0.fetchCount(From<Person>().where(\.age < 3)) }
        var values = count.values.makeAsyncIterator()
        #expect(try await values.next() == 2)
        try set(1, of: "Ben", stack)
        try set(5, of: "Ann", stack)
        #expect(try await values.next() == 1)
        try await stack.perform { try $0.deleteAll(From<Person>()) }
        #expect(try await values.next() == 0)
        #expect(count.value == 0 && count.error == nil)
    }

    @Test @MainActor func callbacksRunInTheIsolationOfTheCallerAndEndWithTheObserver() async throws {
        let stack = try stack(.memory)
        let people = try stack.publishList(byAge)
        final class Screen {
            var counts: [Int] = []
            var continuation: CheckedContinuation<Void, Never>?
            func show(_ count: Int) {
                counts.append(count)
                continuation?.resume()
                continuation = nil
            }
        }
        var screen: Screen? = Screen()
        people.addObserver(try #require(screen), notifyInitial: true) { [weak screen] publisher in screen?.show(publisher.snapshot.count) }
        await withCheckedContinuation { screen?.continuation = $0 }
        await withCheckedContinuation { continuation in
            screen?.continuation = continuation
            Task.detached { try stack.perform(synchronous: { try Self.add("Dan", 4, $0) }) }
        }
        #expect(screen?.counts == [3, 4])
        people.removeObserver(try #require(screen))
        try await stack.perform { try Self.add("Eve", 5, $0) }
        for _ in 0..<20 { await Task.yield() }
        #expect(screen?.counts == [3, 4])
        screen = nil
    }

    @Test func aPublisherIsObservable() async throws {
        let stack = try stack(.memory)
        let people = try stack.publishList(byAge)
        await withCheckedContinuation { continuation in
            withObservationTracking {
                #expect(people.snapshot.count == 3)
            } onChange: {
                continuation.resume()
            }
            try? stack.perform(synchronous: { try Self.add("Dan", 4, $0) })
        }
        #expect(people.snapshot.count == 4)
    }

    @Test func aReleasedPublisherIsDeallocated() async throws {
        let stack = try stack(.memory)
        weak var list: ListPublisher<Person>?
        weak var object: ObjectPublisher<Person>?
        do {
            let people = try stack.publishList(byAge), ann = try stack.publishObject(people.snapshot[0])
            (list, object) = (people, ann)
            let task = Task { for await _ in people.snapshots {} }
            try await stack.perform { try Self.add("Dan", 4, $0) }
            task.cancel()
            await task.value
        }
        while list != nil || object != nil { await Task.yield() }
        #expect(list == nil && object == nil)
    }

    @Test(arguments: TestStore.all) func noChangeIsLostBetweenTheFirstSnapshotAndTheFirstCommit(_ store: TestStore) async throws {
        let stack = try stack(store, [:]), rounds = store == .memory ? 200 : 50
        let isDone = Mutex(false)
        let writer = Task.detached {
            for age in 0..<rounds * 4 {
                try stack.perform(synchronous: { try Self.add("P", age, $0) })
                await Task.yield()
            }
            isDone.withLock { $0 = true }
        }
        while !isDone.withLock({ $0 }) {
            let people = try stack.publishList(byAge)
            var updates = people.updates.makeAsyncIterator()
            var shown = try #require(await updates.next()).snapshot.count
            if shown == rounds * 4 { break }
            let next = try #require(await updates.next())
            // A refetch, which a commit from before the publisher can cause, has no changes.
            guard let changes = next.changes else { continue }
            shown += changes.inserted.count - changes.deleted.count
            #expect(shown == next.snapshot.count)
        }
        try await writer.value
        let people = try stack.publishList(byAge)
        #expect(people.snapshot.count == rounds * 4)
    }

    @Test(arguments: TestStore.all) func listsFollowTheStoresOfTheirStack(_ store: TestStore) async throws {
        let stack = try stack(store)
        let people = try stack.publishList(byAge)
        let view = stack.makeViewContext()
        let monitor = try view.monitorList(byAge)
        let recorder = MonitorRecorder(monitor)
        monitor.addObserver(recorder)
        var updates = people.updates.makeAsyncIterator()
        _ = await updates.next()
        let storage = try #require(stack.storages.first)
        try stack.removeStorage(storage)
        #expect(await updates.next()?.snapshot.count == 0)
        try view.merge()
        #expect(recorder.take() == ["willRefetch", "didRefetch"] && !monitor.hasObjects)
        try stack.add(TestStore.memory.make())
        try stack.perform(synchronous: { try Self.add("Zoe", 1, $0) })
        try view.merge()
        #expect(monitor.numberOfObjects == 1 && monitor[0].name == "Zoe")
        while people.snapshot.isEmpty { await Task.yield() }
        #expect(try names(people.snapshot, stack) == ["Zoe"])
    }
}

extension DataStack {
    /// Adds a store whose kind is not known.
    fileprivate func add(_ storage: some StorageInterface) throws { try addStorageAndWait(storage) }
}
