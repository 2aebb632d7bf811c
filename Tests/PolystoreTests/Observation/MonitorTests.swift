import Foundation
@testable import PolystoreObjects
@testable import PolystoreObservation
import PolystoreStorage
import RawSessions
import TestStores
import Testing

@Suite struct MonitorTests {
    private func stack(_ store: TestStore, _ people: KeyValuePairs<String, Int> = ["Ann": 1, "Ben": 2, "Cid": 3]) throws -> DataStack {
        let stack = try store.stack()
        try stack.perform(synchronous: { transaction in
            for (name, age) in people { try add(name, age, transaction) }
        })
        return stack
    }

    private func add(_ name: String, _ age: Int, _ transaction: WriteTransaction) throws {
        let person = try transaction.create(Person.self)
        person.name = name
        person.age = age
    }

    private func remove(_ name: String, _ transaction: WriteTransaction) throws {
        _ = try transaction.delete([try person(name, transaction)])
    }

    private func person(_ name: String, _ transaction: WriteTransaction) throws -> Person {
        try #require(try transaction.fetchOne(From<Person>().where(\.name == name)))
    }

    private let byName = From<Person>().orderBy(.ascending(\.name))

    /// A list that begins, or is fetched anew, while a commit waits to be merged has it already.
    @Test(arguments: TestStore.all) func monitorIgnoresPendingCommitsAlreadyInItsFirstFetch(_ store: TestStore) throws {
        let stack = try stack(store), list = byName.prefetch(\.partner)
        try stack.perform(synchronous: { try person("Ann", $0).partner = person("Ben", $0) })
        let view = stack.makeViewContext(merging: .onDemand)
        let before = try view.monitorList(list), anew = try view.monitorList(list)
        try stack.perform(synchronous: { try person("Ben", $0).age = 20 })
        try anew.refetch(list)
        let begun = try view.monitorList(list)
        let recorders = [before, anew, begun].map { monitor in
            let recorder = MonitorRecorder(monitor)
            monitor.addObserver(recorder)
            return recorder
        }
        let told = ["will", "update Ann 0.0", "update Ben 0.1", "did"]
        try view.merge()
        #expect(recorders.map { $0.take() } == [told, [], []])
        try stack.perform(synchronous: { try person("Ben", $0).age = 21 })
        try view.merge()
        #expect(recorders.map { $0.take() } == [told, told, told])
    }

    /// The list has the commit, and the objects through which it is looked at have not.
    @Test(arguments: TestStore.all) func aChangeOfAnObjectThatWasNotYetMergedIsReported(_ store: TestStore) throws {
        let stack = try stack(store), list = byName.prefetch(\.partner)
        try stack.perform(synchronous: { try person("Ann", $0).partner = person("Ben", $0) })
        let view = stack.makeViewContext(merging: .onDemand)
        let ben = try #require(try view.fetchOne(From<Person>().where(\.name == "Ben")))
        try stack.perform(synchronous: { try person("Ben", $0).age = 20 })
        try stack.perform(synchronous: { try person("Cid", $0).age = 30 })
        let monitor = try view.monitorList(list), recorder = MonitorRecorder(monitor)
        monitor.addObserver(recorder)
        #expect(ben.age == 2 && monitor[1] === ben)
        try view.merge()
        #expect(ben.age == 20)
        #expect(recorder.take() == ["will", "update Ann 0.0", "update Ben 0.1", "did"])
    }

    @Test(arguments: TestStore.all) func aRefetchedListShowsCommittedObjects(_ store: TestStore) throws {
        let stack = try stack(store), view = stack.makeViewContext()
        let monitor = try view.monitorList(byName), recorder = MonitorRecorder(monitor), ben = monitor[1]
        monitor.addObserver(recorder)
        try stack.perform(synchronous: { try person("Ben", $0).age = 20 })
        try monitor.refetch(byName)
        #expect(ben.age == 20 && monitor[1] === ben)
        #expect(recorder.take() == ["will", "update Ben 0.1", "did", "willRefetch", "didRefetch"])
    }

    /// On a server the history may come later to a commit that everybody sees: a transaction with a lower token is still running.
    @Test(.enabled(if: TestStore.server != nil)) func monitorIgnoresCommitsAlreadyInItsFirstFetch() async throws {
        let stack = try stack(.postgresql), commits: StackCommits
        try stack.perform(synchronous: { try person("Ann", $0).partner = person("Ben", $0) })
        let older = try stack.storages[0].beginWrite(WriteOptions())
        defer { older.end() }
        _ = try older.rawRows(RawSQL("SELECT pg_current_xact_id()::text"))
        try stack.perform(synchronous: { try person("Ben", $0).age = 20 })
        commits = try stack.commits()
        let view = stack.makeViewContext(), monitor = try view.monitorList(byName.prefetch(\.partner)), recorder = MonitorRecorder(monitor)
        monitor.addObserver(recorder)
        older.end()
        // Whoever goes on from a token is told of it, because the token may be from before.
        var iterator = commits.makeAsyncIterator()
        #expect(await iterator.next()?.changes.updatedObjectIDs(Person.self).count == 1)
        try view.merge()
        #expect(recorder.take() == [])
        try stack.perform(synchronous: { try person("Ben", $0).age = 21 })
        try view.merge()
        #expect(recorder.take() == ["will", "update Ann 0.0", "update Ben 0.1", "did"])
    }

    @Test(arguments: TestStore.all) func aListReportsInsertionsDeletionsUpdatesAndMoves(_ store: TestStore) throws {
        let stack = try stack(store, ["Ann": 1, "Ben": 2, "Cid": 3, "Zoe": 10])
        let view = stack.makeViewContext()
        let monitor = try view.monitorList(From<Person>().where(\.age < 100).orderBy(.ascending(\.age)))
        let recorder = MonitorRecorder(monitor)
        monitor.addObserver(recorder)
        try stack.perform(
            sourceIdentifier: "form",
            synchronous: { transaction in
                try add("Dan", 0, transaction)
                try person("Ann", transaction).age = 50
                try person("Ben", transaction).name = "Bea"
                try remove("Cid", transaction)
            })
        #expect(recorder.calls.isEmpty && monitor.numberOfObjects == 4)
        try view.merge()
        #expect(recorder.take() == ["will", "delete 0.2", "insert Dan 0.0", "update Bea 0.1", "move Ann 0.0 0.3", "did"])
        #expect(recorder.sources == ["form", "form"])
        #expect(monitor.sourceIdentifier == nil)
        #expect(recorder.shown == MonitorRecorder.keys(monitor))
        #expect(try monitor.objectsInAllSections().map(\.name) == ["Dan", "Bea", "Zoe", "Ann"])
        // To leave and to enter by the condition.
        try stack.perform(synchronous: { try person("Bea", $0).age = 100 })
        try view.merge()
        #expect(recorder.take() == ["will", "delete 0.1", "did"])
        try stack.perform(synchronous: { try person("Bea", $0).age = 60 })
        try view.merge()
        #expect(recorder.take() == ["will", "insert Bea 0.3", "did"])
        #expect(monitor[3].name == "Bea" && monitor[IndexPath(indexes: [0, 0])].name == "Dan" && monitor[0, 1].name == "Zoe")
        #expect(monitor[safe: 4] == nil && monitor[safe: IndexPath(indexes: [1, 0])] == nil)
    }

    @Test(arguments: TestStore.all) func unrelatedChangesAreNotReportedToAList(_ store: TestStore) throws {
        let stack = try stack(store)
        let view = stack.makeViewContext()
        let monitor = try view.monitorList(From<Person>().where(\.age < 3).orderBy(.ascending(\.name)))
        let recorder = MonitorRecorder(monitor)
        monitor.addObserver(recorder)
        struct Changed: Error {}
        try stack.perform(synchronous: { transaction in
            try person("Cid", transaction).age = 30
            try add("Dan", 40, transaction)
            try transaction.create(Dog.self).name = "Rex"
        })
        #expect(throws: Changed.self) {
            try stack.perform(synchronous: { transaction in
                try person("Ann", transaction).age = 2
                _ = try transaction.fetchCount(From<Person>())
                throw Changed()
            })
        }
        try stack.perform(synchronous: { _ in })
        // What was made and deleted again in one transaction never was.
        try stack.perform(synchronous: { transaction in
            try add("Eve", 1, transaction)
            try remove("Eve", transaction)
        })
        try view.merge()
        #expect(recorder.calls.isEmpty)
    }

    @Test(arguments: TestStore.all) func sectionsComeAndGo(_ store: TestStore) throws {
        let stack = try stack(store, ["Ann": 1, "Ben": 1, "Cid": 2])
        let view = stack.makeViewContext()
        let monitor = try view.monitorSectionedList(
            From<Person>().orderBy(.ascending(\.age), .ascending(\.name)), sectionBy: SectionBy(\.age) { "\($0) years old" })
        let recorder = MonitorRecorder(monitor)
        monitor.addObserver(recorder)
        #expect(monitor.sections.map(\.name) == ["1 years old", "2 years old"] && monitor.numberOfObjects(in: 0) == 2)
        try stack.perform(synchronous: { transaction in
            try person("Cid", transaction).age = 1
            try add("Dan", 3, transaction)
        })
        try view.merge()
        #expect(
            recorder.take() == [
                "will", "section- 2 years old 1", "section+ 3 years old 1", "insert Dan 1.0", "move Cid 1.0 0.2", "did",
            ])
        #expect(recorder.shown == MonitorRecorder.keys(monitor))
        #expect(monitor.sectionInfo(at: 1)?.name == "3 years old" && monitor.sectionInfo(at: 2) == nil)
        #expect(try monitor.objects(inSection: 0).map(\.name) == ["Ann", "Ben", "Cid"])
        #expect(throws: StorageError.self) { try view.monitorSectionedList(byName, sectionBy: SectionBy(\.age)) }
    }

    @Test(arguments: TestStore.all) func anObjectMonitorReportsBeforeAndAfterAChange(_ store: TestStore) throws {
        let stack = try stack(store)
        let view = stack.makeViewContext()
        let ann = try #require(try view.fetchOne(From<Person>().where(\.name == "Ann")))
        let monitor = try view.monitorObject(ann)
        let recorder = MonitorRecorder()
        monitor.addObserver(recorder)
        try stack.perform(synchronous: { try person("Ann", $0).age = 10 })
        try stack.perform(synchronous: { try person("Ben", $0).age = 10 })
        try view.merge()
        #expect(recorder.take() == ["will Ann 1", "did Ann 10 age"])
        // Relationships to many are among what is told, whichever end was assigned.
        try stack.perform(synchronous: { transaction in
            let rex = try transaction.create(Dog.self)
            rex.name = "Rex"
            rex.owner = try person("Ann", transaction)
        })
        try view.merge()
        #expect(recorder.take() == ["will Ann 10", "did Ann 10 pets"])
        try stack.perform(synchronous: { try #require(try $0.fetchOne(From<Dog>())).owner = try person("Ben", $0) })
        try view.merge()
        #expect(recorder.take() == ["will Ann 10", "did Ann 10 pets"])
        try stack.perform(synchronous: { transaction in try remove("Ann", transaction) })
        try view.merge()
        #expect(recorder.take() == ["deleted Ann true"])
        #expect(monitor.object == nil && monitor.isObjectDeleted)
        try stack.perform(synchronous: { try person("Ben", $0).age = 11 })
        try view.merge()
        #expect(recorder.take().isEmpty)
    }

    @Test(arguments: TestStore.all) func aListFollowsItsOrderThroughRelationships(_ store: TestStore) throws {
        let stack = try stack(store)
        try stack.perform(synchronous: { transaction in
            for (pet, owner) in [("Rex", "Ann"), ("Tom", "Ben"), ("Ufo", "Cid")] {
                let dog = try transaction.create(Dog.self)
                dog.name = pet
                dog.owner = try person(owner, transaction)
            }
        })
        let view = stack.makeViewContext()
        let monitor = try view.monitorList(From<Dog>().where(\.owner?.age < 10).orderBy(.ascending(\.owner?.name)))
        final class Names: ListObserver {
            var count = 0, refetches = 0
            func listMonitorDidChange(_ monitor: ListMonitor<Dog>) { count += 1 }
            func listMonitorDidRefetch(_ monitor: ListMonitor<Dog>) { refetches += 1 }
        }
        let names = Names()
        monitor.addObserver(names)
        #expect(try monitor.objectsInAllSections().map(\.name) == ["Rex", "Tom", "Ufo"])
        try stack.perform(synchronous: { try person("Ann", $0).name = "Zoe" })
        try view.merge()
        #expect(try monitor.objectsInAllSections().map(\.name) == ["Tom", "Ufo", "Rex"])
        try stack.perform(synchronous: { try person("Ben", $0).age = 10 })
        try view.merge()
        #expect(try monitor.objectsInAllSections().map(\.name) == ["Ufo", "Rex"])
        #expect(names.count == 2 && names.refetches == 0)
    }

    @Test(arguments: TestStore.all) func observersAreHeldWeaklyAndRemovedOnesAreNotNotified(_ store: TestStore) throws {
        let stack = try stack(store)
        let view = stack.makeViewContext()
        let monitor = try view.monitorList(byName)
        let first = MonitorRecorder(monitor), second = MonitorRecorder(monitor)
        var third: MonitorRecorder? = MonitorRecorder(monitor)
        weak let weakly = third
        for observer in [first, second, third, first].compactMap({ $0 }) { monitor.addObserver(observer) }
        third = nil
        #expect(weakly == nil)
        monitor.removeObserver(second)
        try stack.perform(synchronous: { try person("Ann", $0).age = 5 })
        try view.merge()
        #expect(first.take() == ["will", "update Ann 0.0", "did"])
        #expect(second.calls.isEmpty)
    }

    @Test(arguments: TestStore.all) func aLimitedListIsFilledWithFollowingObjects(_ store: TestStore) throws {
        let stack = try stack(store, [:])
        try stack.perform(synchronous: { transaction in for age in 0..<100 { try add("P\(age)", age, transaction) } })
        let view = stack.makeViewContext()
        let monitor = try view.monitorList(From<Person>().orderBy(.ascending(\.age)).limit(3).offset(1))
        let recorder = MonitorRecorder(monitor)
        monitor.addObserver(recorder)
        #expect(try monitor.objectsInAllSections().map(\.age) == [1, 2, 3])
        try stack.perform(synchronous: { transaction in try remove("P2", transaction) })
        try view.merge()
        #expect(recorder.take() == ["will", "delete 0.1", "insert P4 0.2", "did"])
        for age in 3..<60 {
            try stack.perform(synchronous: { transaction in try remove("P\(age)", transaction) })
            try view.merge()
            #expect(recorder.shown == MonitorRecorder.keys(monitor))
        }
        #expect(try monitor.objectsInAllSections().map(\.age) == [1, 60, 61])
        try stack.perform(synchronous: { try add("New", -1, $0) })
        try view.merge()
        #expect(try monitor.objectsInAllSections().map(\.age) == [0, 1, 60])
        #expect(recorder.shown == MonitorRecorder.keys(monitor))
    }

    @Test(arguments: TestStore.all) func aRefetchReplacesTheRequest(_ store: TestStore) throws {
        let stack = try stack(store)
        let view = stack.makeViewContext()
        let monitor = try view.monitorList(byName)
        let recorder = MonitorRecorder(monitor)
        monitor.addObserver(recorder)
        try monitor.refetch(From<Person>().where(\.age > 1).orderBy(.descending(\.name)))
        #expect(recorder.take() == ["willRefetch", "didRefetch"])
        #expect(try monitor.objectsInAllSections().map(\.name) == ["Cid", "Ben"])
        try stack.perform(synchronous: { try add("Dan", 9, $0) })
        try view.merge()
        #expect(recorder.take() == ["will", "insert Dan 0.0", "did"])
    }

    @Test(arguments: [TestStore.memory, .lmdb]) func aLongListHoldsIdentitiesAndAFewBatches(_ store: TestStore) throws {
        let count = 20_000, stack = try stack(store, [:])
        _ = try stack.perform(synchronous: { transaction in
            try transaction.insertAll(Into<Person>(), sources: 0..<count) { person, age in
                person.name = "P"
                person.age = age
            }
        })
        let view = stack.makeViewContext()
        let monitor = try view.monitorList(From<Person>().orderBy(.ascending(\.age)).batchSize(20))
        #expect(monitor.numberOfObjects == count && view.liveCount == 0)
        // A screen scrolls; of what it has passed four batches stay.
        for position in stride(from: 0, to: count, by: count / 500) { #expect(monitor[position].age == position) }
        #expect(view.liveCount == 4 * 20)
        for position in 5_000..<5_100 { #expect(monitor[position].age == position) }
        #expect(view.liveCount == 4 * 20)
        // One change is told without fetching the list or its objects.
        let recorder = Counter()
        monitor.addObserver(recorder)
        try stack.perform(synchronous: { transaction in
            try transaction.fetchOne(From<Person>().where(\.age == count - 1))?.age = -1
        })
        try view.merge()
        #expect(recorder.changes == 1 && monitor[0].age == -1 && monitor[1].age == 0)
        #expect(view.liveCount <= 6 * 20)
    }

    private final class Counter: ListObserver {
        var changes = 0
        func listMonitorDidChange(_ monitor: ListMonitor<Person>) { changes += 1 }
        func listMonitorDidRefetch(_ monitor: ListMonitor<Person>) { changes += 1_000 }
    }

    @Test(arguments: TestStore.all) func tenThousandChangesAreOneNotification(_ store: TestStore) throws {
        let stack = try stack(store)
        let view = stack.makeViewContext()
        let monitor = try view.monitorList(From<Person>().orderBy(.ascending(\.age)))
        let recorder = MonitorRecorder(monitor)
        monitor.addObserver(recorder)
        try stack.perform(synchronous: { transaction in for age in 0..<10_000 { try add("P", age, transaction) } })
        try view.merge()
        #expect(recorder.calls.count { $0 == "will" || $0 == "did" } == 2)
        #expect(monitor.numberOfObjects == 10_003 && recorder.shown == MonitorRecorder.keys(monitor))
    }

    @Test @MainActor func observersAreCalledInTheIsolationOfTheirContext() async throws {
        let stack = try stack(.memory)
        let monitor = try stack.viewContext.monitorList(byName)
        @MainActor final class Table: @MainActor ListObserver {
            var continuation: CheckedContinuation<Int, Never>?
            func listMonitorDidChange(_ monitor: ListMonitor<Person>) { continuation?.resume(returning: monitor.numberOfObjects) }
            func listMonitorDidRefetch(_ monitor: ListMonitor<Person>) {}
        }
        let table = Table()
        monitor.addObserver(table)
        let count = await withCheckedContinuation { continuation in
            table.continuation = continuation
            Task.detached { try stack.perform(synchronous: { try add("Dan", 4, $0) }) }
        }
        #expect(count == 4)
    }

    @Test(arguments: TestStore.all) @MainActor func aListFetchedOutsideOfItsActorMissesNothing(_ store: TestStore) async throws {
        let stack = try stack(store)
        // Somebody observes, so that commits name what they change.
        let first = try stack.viewContext.monitorList(byName)
        let writer = Task.detached { [self] in
            for age in 10..<60 { try stack.perform(synchronous: { try add("P\(age)", age, $0) }) }
        }
        var monitors: [(ListMonitor<Person>, MonitorRecorder)] = []
        for _ in 0..<10 {
            let monitor = try await stack.viewContext.monitorList(
                asynchronous: From<Person>().where(\.age >= 10).orderBy(.descending(\.age)))
            let recorder = MonitorRecorder(monitor)
            monitor.addObserver(recorder)
            monitors.append((monitor, recorder))
        }
        let (monitor, recorder) = try #require(monitors.first)
        let pending = Task { try await monitor.refetch(asynchronous: byName) }
        try await writer.value
        try await pending.value
        try stack.viewContext.merge()
        #expect(!monitor.isPendingRefetch && recorder.calls.count { $0 == "didRefetch" } == 1)
        #expect(monitor.objectIDs == first.objectIDs && first.numberOfObjects == 53)
        for (monitor, recorder) in monitors.dropFirst() {
            #expect(try monitor.objectsInAllSections().map(\.age) == Array((10..<60).reversed()))
            #expect(recorder.shown == MonitorRecorder.keys(monitor))
        }
        await #expect(throws: StorageError.self) { try await monitor.refetch(asynchronous: From<Person>().offset(-1)) }
    }

    @Test func anyActorCanObserve() async throws {
        actor Screen {
            let context: ViewContext
            var monitor: ListMonitor<Person>?
            var counter: Counter?
            final class Counter: ListObserver {
                let stream: AsyncStream<Int>.Continuation
                init(_ stream: AsyncStream<Int>.Continuation) { self.stream = stream }
                func listMonitorDidChange(_ monitor: ListMonitor<Person>) { stream.yield(monitor.numberOfObjects) }
                func listMonitorDidRefetch(_ monitor: ListMonitor<Person>) {}
            }
            init(_ context: sending ViewContext) { self.context = context }
            func start() throws -> AsyncStream<Int> {
                let (stream, continuation) = AsyncStream<Int>.makeStream()
                let counter = Counter(continuation)
                let monitor = try context.monitorList(From<Person>().orderBy(.ascending(\.name)))
                monitor.addObserver(counter)
                (self.monitor, self.counter) = (monitor, counter)
                return stream
            }
        }
        let stack = try stack(.memory)
        let screen = Screen(stack.makeViewContext())
        var counts = try await screen.start().makeAsyncIterator()
        try await stack.perform { try add("Dan", 4, $0) }
        #expect(await counts.next() == 4)
        try await stack.perform { transaction in try remove("Dan", transaction) }
        #expect(await counts.next() == 3)
    }

    @Test(arguments: TestStore.all) func anObserverMayWrite(_ store: TestStore) throws {
        let stack = try stack(store)
        let view = stack.makeViewContext()
        let monitor = try view.monitorList(byName)
        final class Writer: ListObserver {
            let stack: DataStack
            weak var view: ViewContext?
            var depth = 0, deepest = 0, count = 0
            init(_ stack: DataStack, _ view: ViewContext) {
                self.stack = stack
                self.view = view
            }
            func listMonitorDidChange(_ monitor: ListMonitor<Person>) {
                depth += 1
                deepest = max(deepest, depth)
                count += 1
                if count < 5 {
                    try? stack.perform(synchronous: { transaction in
                        try transaction.create(Person.self).name = "W\(monitor.numberOfObjects)"
                    })
                    _ = try? view?.fetchCount(From<Person>())
                }
                depth -= 1
            }
            func listMonitorDidRefetch(_ monitor: ListMonitor<Person>) {}
        }
        let writer = Writer(stack, view)
        monitor.addObserver(writer)
        try stack.perform(synchronous: { try add("Dan", 4, $0) })
        while try view.merge() {}
        #expect(writer.count == 5 && writer.deepest == 1 && monitor.numberOfObjects == 8)
    }
}
