import Foundation
import Polystore
import PolystoreObjects
import PolystoreSQLite
import PolystoreStorage
import RawSessions
import Synchronization
import TestStores
import Testing

/// Following what others commit.
@Suite(.timeLimit(.minutes(15))) struct PersistentHistoryTrackerTests {
    private func order(_ number: Int64, _ stack: DataStack, author: TransactionAuthor) throws {
        try stack.perform(author: author, synchronous: { try HistoryFixture.order(number, in: $0) })
    }

    private func authors(_ count: Int, _ events: AsyncStream<PersistentHistoryTracker.Event>) async -> [TransactionAuthor] {
        var authors: [TransactionAuthor] = []
        for await event in events {
            if case .transaction(let transaction) = event { authors.append(transaction.author) }
            if authors.count >= count { break }
        }
        return authors
    }

    /// A stack over a store.
    private func opened(_ store: any StorageInterface) throws -> DataStack {
        let stack = try DataStack(schema: HistoryFixture.schema())
        try stack.addStorageAndWait(store)
        return stack
    }

    private func place() -> String { "polystore_\(UUID().uuidString.lowercased())" }

    private func text(_ event: PersistentHistoryTracker.Event?) -> String? {
        switch event {
        case .transaction(let transaction): transaction.author.name
        case .gap: "gap"
        case nil: nil
        }
    }

    /// Takes events for as long as it is held.
    private final class Listener: Sendable {
        private let heard = Mutex<[String]>([])
        private let task = Mutex<Task<Void, Never>?>(nil)

        init(_ events: AsyncStream<PersistentHistoryTracker.Event>) {
            let task = Task { [weak self] in
                for await event in events {
                    let text = if case .transaction(let transaction) = event { transaction.author.name } else { "gap" }
                    self?.take(text)
                }
            }
            self.task.withLock { $0 = task }
        }

        deinit { task.withLock { $0 }?.cancel() }

        @inline(never) private func take(_ text: String) { heard.withLock { $0.append(text) } }

        /// Whether these have soon come, first of all.
        func hears(_ texts: [String]) async -> Bool {
            await HistoryFixture.becomes { self.heard.withLock { Array($0.prefix(texts.count)) } == texts }
        }
    }

    /// Whether a consumer has soon done everything.
    private func isDone(_ stack: DataStack) async throws -> Bool {
        let consumer = try stack.historyConsumer("tracker.app")
        return try await HistoryFixture.becomes { try consumer.status()?.lag == 0 }
    }

    @Test(arguments: TestStore.all) func transactionsOfOtherAuthorsAreDelivered(_ store: TestStore) async throws {
        let stack = try HistoryFixture.stack(store), tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        try order(0, stack, author: "before")
        #expect(!tracker.isMonitoring)
        let events = tracker.events()
        tracker.startMonitoring()
        tracker.startMonitoring()
        #expect(tracker.isMonitoring)
        try order(1, stack, author: "sync")
        try order(2, stack, author: "app")
        try order(3, stack, author: "widget")
        #expect(await authors(2, events) == ["sync", "widget"])
        #expect(await tracker.lastError == nil)
        tracker.stopMonitoring()
        #expect(!tracker.isMonitoring)
    }

    @MainActor @Test(arguments: HistoryFixture.shared) func viewContextsMergeWhatOtherProcessesCommit(_ store: TestStore) async throws {
        let stacks = try HistoryFixture.stacks(store, 2)
        try order(1, stacks[1], author: "other")
        let view = stacks[0].viewContext
        let object = try #require(try view.fetchOne(From<DynamicObject>(entity: "Order")))
        let tracker = PersistentHistoryTracker(stacks[0], currentAuthor: "app"), events = tracker.events()
        tracker.startMonitoring()
        try stacks[1].perform(
            author: "other",
            synchronous: { transaction in
                try transaction.fetchOne(From<DynamicObject>(entity: "Order"))?.setValue(.int(2), for: "number")
            })
        #expect(await authors(1, events) == ["other"])
        let isMerged = try await HistoryFixture.becomes {
            try view.merge()
            return try object.value("number") == .int(2)
        }
        #expect(isMerged)
        tracker.stopMonitoring()
    }

    @Test(arguments: HistoryFixture.shared) func theTrackerContinuesAfterARestart(_ store: TestStore) async throws {
        let stacks = try HistoryFixture.stacks(store, 2)
        var first: PersistentHistoryTracker? = PersistentHistoryTracker(stacks[0], currentAuthor: "app")
        let listener = Listener(try #require(first?.events()))
        first?.startMonitoring()
        try order(1, stacks[1], author: "a")
        #expect(await listener.hears(["a"]))
        #expect(try await isDone(stacks[0]))
        first?.stopMonitoring()
        first = nil
        try order(2, stacks[1], author: "b")
        try order(3, stacks[1], author: "c")
        let second = PersistentHistoryTracker(stacks[1], currentAuthor: "app"), rest = second.events()
        second.startMonitoring()
        #expect(await authors(2, rest) == ["b", "c"])
        second.stopMonitoring()
    }

    @Test(arguments: TestStore.all.filter { $0 != .memory })
    func unprocessedEventsAreDeliveredOnceIfTheirStoreIsRemovedAndAddedAgain(_ store: TestStore) async throws {
        let stack = try HistoryFixture.stack(store), storage = try #require(stack.storages.first)
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        for author in ["a", "b", "c"] { try order(1, stack, author: TransactionAuthor(author)) }
        #expect(text(await events.next()) == "a")
        try stack.removeStorage(storage)
        #expect(await HistoryFixture.becomes { (try? stack.addStorageAndWait(storage)) != nil })
        try order(1, stack, author: "d")
        var heard: [String?] = []
        for _ in 0..<3 { heard.append(text(await events.next())) }
        try order(1, stack, author: "e")
        heard.append(text(await events.next()))
        #expect(heard == ["b", "c", "d", "e"])
        tracker.stopMonitoring()
    }

    @Test(arguments: TestStore.all) func commitsToAStoreThatIsAddedLaterAreDeliveredOnce(_ store: TestStore) async throws {
        let stack = try DataStack(schema: HistoryFixture.schema()), tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        try HistoryFixture.delayingReads(stack) {
            try stack.addStorageAndWait(store.make())
            for author in ["a", "app", "b"] { try order(1, stack, author: TransactionAuthor(author)) }
        }
        #expect(text(await events.next()) == "a")
        #expect(text(await events.next()) == "b")
        try order(1, stack, author: "c")
        #expect(text(await events.next()) == "c")
        tracker.stopMonitoring()
    }

    @Test func commitsThatWerePurgedBeforeTheTrackerCouldReadThemAreAGap() async throws {
        let stack = try DataStack(schema: HistoryFixture.schema()), tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        try HistoryFixture.delayingReads(stack) {
            try stack.addStorageAndWait(TestStore.sqlite.make())
            for author in ["a", "b"] { try order(1, stack, author: TransactionAuthor(author)) }
            _ = try stack.purgeHistory(.olderThan(.zero))
        }
        #expect(text(await events.next()) == "gap")
        try order(1, stack, author: "c")
        #expect(text(await events.next()) == "c")
        tracker.stopMonitoring()
    }

    @Test func aStoreThatComesBackFromABackupHasAGap() async throws {
        let name = "polystore_\(UUID().uuidString.lowercased())", storage = TestStore.sqlite.make(named: name)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(name + ".db")
        let backup = file.appendingPathExtension("backup"), files = try #require(storage as? any LocalStorage)
        let stack = try DataStack(schema: HistoryFixture.schema())
        try stack.addStorageAndWait(storage)
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        try order(1, stack, author: "a")
        #expect(text(await events.next()) == "a")
        try files.backup(to: backup)
        for author in ["b", "c"] { try order(1, stack, author: TransactionAuthor(author)) }
        #expect(text(await events.next()) == "b")
        #expect(text(await events.next()) == "c")
        try stack.removeStorage(storage)
        try HistoryFixture.restore(backup, to: file)
        // The history of the backup reaches beyond the last number again before the tracker reads it.
        try HistoryFixture.delayingReads(stack) {
            try stack.addStorageAndWait(storage)
            for author in ["d", "e", "f"] { try order(1, stack, author: TransactionAuthor(author)) }
        }
        for expected in ["gap", "d", "e", "f"] { #expect(text(await events.next()) == expected) }
        tracker.stopMonitoring()
    }

    @Test(arguments: TestStore.all) func unprocessedEventsAreDeliveredAgainAfterARestart(_ store: TestStore) async throws {
        let stack = try HistoryFixture.stack(store)
        func started() -> (PersistentHistoryTracker, AsyncStream<PersistentHistoryTracker.Event>.Iterator) {
            let tracker = PersistentHistoryTracker(stack, currentAuthor: "app"), events = tracker.events()
            tracker.startMonitoring()
            return (tracker, events.makeAsyncIterator())
        }
        var (tracker, events) = started()
        for number in 0..<3 { try order(Int64(number), stack, author: TransactionAuthor("\(number)")) }
        let first = await events.next(), second = await events.next()
        #expect([text(first), text(second)] == ["0", "1"])
        // The first is done, the second is not.
        let consumer = try stack.historyConsumer("tracker.app")
        #expect(try await HistoryFixture.becomes { try consumer.status()?.lag == 2 })
        tracker.stopMonitoring()
        (tracker, events) = started()
        for author in ["1", "2"] {
            let event = await events.next()
            #expect(text(event) == author)
        }
        tracker.stopMonitoring()
    }

    /// A listener that is quick and then slow, without a commit that makes the tracker look again.
    ///
    /// - Parameter isStopped: Whether monitoring ends directly after the last event.
    @Test(arguments: [false, true]) func progressIsRecordedWithoutAnotherCommit(isStopped: Bool) async throws {
        let stack = try HistoryFixture.stack(.memory), consumer = try stack.historyConsumer("tracker.app")
        try consumer.register(from: .beginning)
        for number in 0..<9 { try order(Int64(number), stack, author: TransactionAuthor("\(number)")) }
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        for _ in 0..<2 { _ = await events.next() }
        // The tracker is woken once a second at most.
        #expect(try await HistoryFixture.becomes { try consumer.status()?.lag == 8 })
        for _ in 2..<8 { _ = await events.next() }
        if isStopped { tracker.stopMonitoring() }
        // The eighth event is not processed.
        #expect(try await HistoryFixture.becomes { try consumer.status()?.lag == 2 })
        tracker.stopMonitoring()
        try consumer.unregister()
        try await Task.sleep(for: .milliseconds(100))
        #expect(try consumer.status() == nil)
    }

    @Test func aBacklogWaitsInTheHistory() async throws {
        let stack = try HistoryFixture.stack(.memory), count = 300
        try stack.historyConsumer("tracker.app").register(from: .beginning)
        for number in 0..<count { try order(Int64(number), stack, author: TransactionAuthor("\(number)")) }
        let options = PersistentHistoryTrackingOptions(bufferedEvents: 8)
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app", options: options), events = tracker.events()
        tracker.startMonitoring()
        var heard: [String] = []
        for await event in events {
            heard.append(text(event) ?? "")
            if heard.count == count { break }
            if heard.count % 100 == 0 { try await Task.sleep(for: .milliseconds(20)) }
        }
        #expect(heard == (0..<count).map { "\($0)" })
        tracker.stopMonitoring()
    }

    @Test(arguments: TestStore.all) func theTrackerPurgesTransactionsThatAllConsumersHaveAcknowledged(_ store: TestStore) async throws {
        let stack = try HistoryFixture.stack(store)
        let options = PersistentHistoryTrackingOptions(consumer: "mine", keepsHistoryFor: .zero, purgeInterval: .zero)
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app", options: options), slow = try stack.historyConsumer("slow")
        try slow.register(from: .now)
        tracker.startMonitoring()
        try order(1, stack, author: "a")
        try order(2, stack, author: "b")
        let needed = try HistoryFixture.history(stack, count: 2).map(\.author)
        #expect(needed == ["a", "b"])
        try slow.unregister()
        try order(3, stack, author: "c")
        let isPurged = try await HistoryFixture.becomes {
            try order(4, stack, author: "c")
            return try stack.history().transactions.allSatisfy { $0.author == "c" }
        }
        #expect(isPurged)
        tracker.stopMonitoring()
    }

    @Test func aGapIsReported() async throws {
        let stack = try HistoryFixture.stack(.memory)
        try stack.historyConsumer("tracker.app").register(from: .beginning)
        try order(1, stack, author: "a")
        try stack.purgeHistory(.olderThan(.zero), ignoringConsumersUnseenFor: .seconds(-1))
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app"), events = tracker.events()
        tracker.startMonitoring()
        for await event in events {
            guard case .gap(let store) = event else {
                Issue.record("the transaction was purged")
                break
            }
            #expect(try stack.currentHistoryToken().store == store)
            break
        }
        let others = tracker.events()
        try order(2, stack, author: "b")
        #expect(await authors(1, others) == ["b"])
    }

    @Test func theSlowestListenerMissesNothing() async throws {
        let stack = try HistoryFixture.stack(.memory), options = PersistentHistoryTrackingOptions(bufferedEvents: 2)
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app", options: options)
        var slow = tracker.events().makeAsyncIterator()
        let quick = Listener(tracker.events()), all = (0..<6).map { "\($0)" }
        tracker.startMonitoring()
        for author in all { try order(1, stack, author: TransactionAuthor(author)) }
        #expect(await quick.hears(["0", "1"]))
        for author in all {
            let event = await slow.next()
            #expect(text(event) == author)
        }
        #expect(await quick.hears(all))
        tracker.stopMonitoring()
    }

    @Test func aReleasedListenerDoesNotDelayOthers() async throws {
        let stack = try HistoryFixture.stack(.memory), options = PersistentHistoryTrackingOptions(bufferedEvents: 2)
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app", options: options)
        var idle: AsyncStream<PersistentHistoryTracker.Event>? = tracker.events()
        let listener = Listener(tracker.events()), all = (0..<6).map { "\($0)" }
        tracker.startMonitoring()
        for author in all { try order(1, stack, author: TransactionAuthor(author)) }
        #expect(await listener.hears(["0", "1"]) && idle != nil)
        idle = nil
        #expect(await listener.hears(all))
        tracker.stopMonitoring()
    }

    @Test func eventsBeforeTheFirstListenerAreKept() async throws {
        let stack = try HistoryFixture.stack(.memory), options = PersistentHistoryTrackingOptions(bufferedEvents: 2)
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app", options: options)
        tracker.startMonitoring()
        for number in 0..<4 { try order(1, stack, author: TransactionAuthor("\(number)")) }
        let listener = Listener(tracker.events())
        #expect(await listener.hears(["0", "1", "2", "3"]))
        #expect(try await isDone(stack))
        tracker.stopMonitoring()
    }

    @Test func eventsWithoutAListenerArePurgedAndReportedAsAGap() async throws {
        let stack = try HistoryFixture.stack(.memory)
        let options = PersistentHistoryTrackingOptions(keepsHistoryFor: .zero, purgeInterval: .zero)
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app", options: options)
        tracker.startMonitoring()
        for number in 0..<3 { try order(1, stack, author: TransactionAuthor("\(number)")) }
        let isPurged = try await HistoryFixture.becomes {
            try order(2, stack, author: "app")
            return try stack.history().transactions.allSatisfy { $0.author == "app" }
        }
        #expect(isPurged)
        let listener = Listener(tracker.events())
        try order(3, stack, author: "new")
        #expect(await listener.hears(["gap", "new"]))
        tracker.stopMonitoring()
    }

    @Test(arguments: TestStore.all) func aGapWithoutAListenerIsReportedInALaterRun(_ store: TestStore) async throws {
        let stack = try HistoryFixture.stack(store)
        let options = PersistentHistoryTrackingOptions(keepsHistoryFor: .zero, purgeInterval: .zero)
        let isPurged = { () async throws -> Bool in
            try await HistoryFixture.becomes {
                try order(2, stack, author: "app")
                return try stack.history().transactions.allSatisfy { $0.author == "app" }
            }
        }
        // The second run purges too, although the consumer has not restarted.
        for author in ["a", "b"] {
            let tracker = PersistentHistoryTracker(stack, currentAuthor: "app", options: options)
            tracker.startMonitoring()
            try order(1, stack, author: TransactionAuthor(author))
            #expect(try await isPurged())
            #expect(try stack.historyConsumer("tracker.app").status()?.isExpired == true)
            tracker.stopMonitoring()
        }
        let third = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = third.events().makeAsyncIterator()
        third.startMonitoring()
        var event = await events.next()
        #expect(text(event) == "gap")
        third.stopMonitoring()
        // The listener has not processed the gap.
        let last = PersistentHistoryTracker(stack, currentAuthor: "app"), others = last.events()
        events = others.makeAsyncIterator()
        last.startMonitoring()
        event = await events.next()
        #expect(text(event) == "gap")
        try order(3, stack, author: "c")
        event = await events.next()
        #expect(text(event) == "c")
        // The first transaction after the gap is processed.
        try order(4, stack, author: "d")
        event = await events.next()
        #expect(text(event) == "d")
        #expect(try await HistoryFixture.becomes { try stack.historyConsumer("tracker.app").status()?.isExpired == false })
        last.stopMonitoring()
    }

    /// The consumer stands before the transaction of the future, and only this program commits after it.
    @Test func aTransactionDatedInTheFutureDelaysNoPurge() async throws {
        let stack = try opened(TrackedStore(TestStore.memory.make()))
        let options = PersistentHistoryTrackingOptions(keepsHistoryFor: .milliseconds(100), purgeInterval: .milliseconds(50))
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app", options: options)
        tracker.startMonitoring()
        try order(1, stack, author: "future")
        let isPurged = try await HistoryFixture.becomes {
            try order(2, stack, author: "app")
            return try stack.history().transactions.first?.author == "app"
        }
        #expect(isPurged)
        let listener = Listener(tracker.events())
        try order(3, stack, author: "new")
        #expect(await listener.hears(["gap", "new"]))
        tracker.stopMonitoring()
    }

    @Test func anIdleProgramPurges() async throws {
        let stack = try opened(TestStore.sqlite.make())
        let options = PersistentHistoryTrackingOptions(keepsHistoryFor: .milliseconds(100), purgeInterval: .milliseconds(100))
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app", options: options), events = tracker.events()
        let consumer = try stack.historyConsumer("tracker.app")
        try consumer.register(from: .now)
        let registered = try #require(try consumer.status()?.seen)
        tracker.startMonitoring()
        #expect(try await HistoryFixture.becomes { try consumer.status().map { $0.seen > registered } ?? false })
        for number in 0..<3 { try order(Int64(number), stack, author: "app") }
        // Nothing is committed after that.
        #expect(try await HistoryFixture.becomes { try stack.history().transactions.isEmpty })
        tracker.stopMonitoring()
        withExtendedLifetime(events) {}
    }

    @Test func aConsumerThatSomebodyUnregisteredIsRegisteredAgain() async throws {
        let stack = try HistoryFixture.stack(.memory), tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        let listener = Listener(tracker.events())
        tracker.startMonitoring()
        try order(1, stack, author: "a")
        #expect(await listener.hears(["a"]))
        #expect(try await isDone(stack))
        try stack.historyConsumer("tracker.app").unregister()
        for author in ["b", "c"] { try order(2, stack, author: TransactionAuthor(author)) }
        #expect(await listener.hears(["a", "b", "c"]))
        #expect(try await isDone(stack))
        #expect(await HistoryFixture.becomes { await tracker.lastError == nil })
        tracker.stopMonitoring()
    }

    @Test func anUnrecordedHistoryIsOneGapUntilRecordingStarts() async throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(place()).path
        let store = TrackedStore(SQLiteStore(path: path), isSilent: true), stack = try opened(store)
        try order(1, stack, author: "a")
        try order(2, try opened(SQLiteStore(path: path, recordsHistory: false)), author: "b")
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        let first = await events.next()
        #expect(text(first) == "gap")
        let reads = store.reads, writes = store.writes
        #expect(await HistoryFixture.becomes { store.reads >= reads + 2 })
        #expect(store.writes == writes)
        // The first commit of a program that records begins the history anew.
        let other = try opened(SQLiteStore(path: path))
        try order(3, other, author: "c")
        let second = await events.next()
        try order(4, other, author: "d")
        let third = await events.next()
        #expect(text(second) == "gap")
        #expect(text(third) == "d")
        #expect(await tracker.lastError == nil)
        tracker.stopMonitoring()
    }

    @Test func aFailedWatchIsRetried() async throws {
        let name = place(), store = TrackedStore(TestStore.sqlite.make(named: name))
        let stack = try opened(store), other = try opened(TestStore.sqlite.make(named: name))
        store.refusesWatches = true
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app"), events = tracker.events()
        tracker.startMonitoring()
        let isRefused = await HistoryFixture.becomes { await tracker.lastError?.code == .connectionLost }
        try #require(isRefused)
        store.refusesWatches = false
        let isWatched = await HistoryFixture.becomes { await tracker.lastError == nil }
        try #require(isWatched)
        try order(1, other, author: "other")
        #expect(await authors(1, events) == ["other"])
        tracker.stopMonitoring()
    }

    @Test func aStoreWithoutNotificationsIsPolled() async throws {
        let name = place(), store = TrackedStore(TestStore.sqlite.make(named: name), isSilent: true)
        let stack = try opened(store), other = try opened(TestStore.sqlite.make(named: name))
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app"), events = tracker.events()
        tracker.startMonitoring()
        let isLookedInto = await HistoryFixture.becomes { store.reads >= 3 }
        try #require(isLookedInto)
        try order(1, other, author: "other")
        #expect(await authors(1, events) == ["other"])
        tracker.stopMonitoring()
    }

    @Test func aRestartedTrackerDeliversNoEventTwice() async throws {
        let store = TrackedStore(TestStore.memory.make()), stack = try opened(store)
        try stack.historyConsumer("tracker.app").register(from: .beginning)
        for author in ["a", "b"] { try order(1, stack, author: TransactionAuthor(author)) }
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app"), events = tracker.events()
        store.hold()
        defer { store.release() }
        tracker.startMonitoring()
        let isReading = await HistoryFixture.becomes { store.held == 1 }
        try #require(isReading)
        tracker.stopMonitoring()
        tracker.startMonitoring()
        // Who reads beside the first would be here by now.
        for _ in 0..<50 where store.held == 1 { try await Task.sleep(for: .milliseconds(10)) }
        #expect(store.held == 1)
        store.release()
        let listener = Listener(events)
        #expect(await listener.hears(["a", "b"]))
        #expect(try await isDone(stack))
        try order(2, stack, author: "c")
        #expect(await listener.hears(["a", "b", "c"]))
        tracker.stopMonitoring()
    }

    @Test func theTrackerEndsWithItsLastReference() async throws {
        let stack = try HistoryFixture.stack(.memory)
        var tracker: PersistentHistoryTracker? = PersistentHistoryTracker(stack, currentAuthor: "app")
        let events = try #require(tracker?.events())
        weak let known = tracker
        tracker?.startMonitoring()
        try await Task.sleep(for: .milliseconds(20))
        tracker = nil
        #expect(await HistoryFixture.becomes { known == nil })
        #expect(await authors(1, events) == [])
    }
}
