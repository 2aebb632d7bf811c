import Foundation
import Polystore
import PolystoreSQLite
import PolystoreStorage
import Synchronization
import TestStores
import Testing

@testable import PolystoreObjects

/// Where a tracker begins in stores that are added late, or that refuse its registration.
@Suite(.timeLimit(.minutes(5))) struct TrackerAdditionTests {
    private func order(_ stack: DataStack, author: TransactionAuthor) throws {
        try stack.perform(author: author, synchronous: { try HistoryFixture.order(1, in: $0) })
    }

    private func text(_ event: PersistentHistoryTracker.Event?) -> String? {
        switch event {
        case .transaction(let transaction): transaction.author.name
        case .gap: "gap"
        case nil: nil
        }
    }

    /// Starts a tracker while a store refuses some sessions, and commits before the tracker tries again.
    ///
    /// - Parameter refusedWrite: The number of one of the tracker's later write transactions, which the store refuses too.
    private func firstEvents(
        _ count: Int, refusing refused: Set<HookedStore.Event>, then refusedWrite: Int? = nil
    ) async throws -> [String?] {
        let store = HookedStore(TestStore.memory.make()), stack = try DataStack(schema: HistoryFixture.schema())
        try stack.addStorageAndWait(store)
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator(), heard: [String?] = []
        try order(stack, author: "before")
        try HistoryFixture.delayingReads(stack) {
            store.setHook { event throws(StorageError) in if refused.contains(event) { throw StorageError(.busy, "not now") } }
            tracker.startMonitoring()
            store.setHook(nil)
            try order(stack, author: "a")
            guard let refusedWrite else { return }
            let count = Atomic(0)
            store.setHook { event throws(StorageError) in
                guard event == .beginWrite, count.add(1, ordering: .relaxed).newValue == refusedWrite else { return }
                throw StorageError(.busy, "not now")
            }
        }
        for _ in 1..<count { heard.append(text(await events.next())) }
        try order(stack, author: "b")
        heard.append(text(await events.next()))
        tracker.stopMonitoring()
        return heard
    }

    @Test func noCommitAfterAFailedRegistrationIsMissed() async throws {
        #expect(try await firstEvents(2, refusing: [.beginWrite]) == ["a", "b"])
    }

    @Test func aStoreThatCouldNotBeReadEitherHasAGap() async throws {
        #expect(try await firstEvents(2, refusing: [.beginWrite, .beginRead]) == ["gap", "b"])
    }

    /// The tracker has registered its consumer when it is refused.
    @Test func aGapThatCannotBeRecordedIsNotForgotten() async throws {
        #expect(try await firstEvents(2, refusing: [.beginWrite, .beginRead], then: 2) == ["gap", "b"])
    }

    /// The second start registers the consumer, which must begin where the first one could not.
    @Test(arguments: [false, true]) func noCommitBetweenAFailedStartAndTheNextIsMissed(isUnreadable: Bool) async throws {
        let store = HookedStore(TestStore.memory.make()), stack = try DataStack(schema: HistoryFixture.schema())
        try stack.addStorageAndWait(store)
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        try HistoryFixture.delayingReads(stack) {
            let refused: Set<HookedStore.Event> = isUnreadable ? [.beginWrite, .beginRead] : [.beginWrite]
            store.setHook { event throws(StorageError) in if refused.contains(event) { throw StorageError(.busy, "not now") } }
            tracker.startMonitoring()
            store.setHook(nil)
            try order(stack, author: "a")
            tracker.stopMonitoring()
            tracker.startMonitoring()
        }
        #expect(text(await events.next()) == (isUnreadable ? "gap" : "a"))
        try order(stack, author: "b")
        #expect(text(await events.next()) == "b")
        tracker.stopMonitoring()
    }

    /// Another program removes the registration of a tracker that has events which no listener has processed, and then the tracker ends.
    @Test(arguments: [false, true]) func whatIsUnprocessedBeforeARegistrationIsRemovedIsAGap(isAddedAgain: Bool) async throws {
        let store = Restorable(), stack = try store.stack(), tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        try order(stack, author: "a")
        #expect(text(await events.next()) == "a")
        if !isAddedAgain { tracker.stopMonitoring() }
        try stack.historyConsumer("tracker.app").unregister()
        try order(stack, author: "b")
        if isAddedAgain {
            try stack.removeStorage(store.storage)
            try stack.addStorageAndWait(store.storage)
        } else {
            tracker.startMonitoring()
        }
        #expect(try await HistoryFixture.becomes { try stack.historyConsumer("tracker.app").status()?.isExpired == true })
        // A listener loses nothing if the program goes on.
        #expect(text(await events.next()) == "b")
        #expect(try await HistoryFixture.becomes { try stack.historyConsumer("tracker.app").status()?.lag == 1 })
        tracker.stopMonitoring()
    }

    @Test func aStoreThatIsAddedWhileTheTrackerDoesNotMonitorHasNoGap() async throws {
        let stack = try DataStack(schema: HistoryFixture.schema()), tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        tracker.stopMonitoring()
        try stack.addStorageAndWait(TestStore.memory.make())
        try order(stack, author: "a")
        tracker.startMonitoring()
        try order(stack, author: "b")
        #expect(text(await events.next()) == "b")
        tracker.stopMonitoring()
    }

    /// A SQLite store in a stack, of which a backup can be restored.
    private struct Restorable {
        let storage: any StorageInterface, file: URL, backup: URL

        init() {
            let name = "polystore_\(UUID().uuidString.lowercased())"
            storage = TestStore.sqlite.make(named: name)
            file = FileManager.default.temporaryDirectory.appendingPathComponent(name + ".db")
            backup = file.appendingPathExtension("backup")
        }

        func stack() throws -> DataStack {
            let stack = try DataStack(schema: HistoryFixture.schema())
            try stack.addStorageAndWait(storage)
            return stack
        }

        /// Commits as a program that does not record the history.
        func commitUnrecorded() throws {
            let stack = try DataStack(schema: HistoryFixture.schema()), storage = SQLiteStore(path: file.path, recordsHistory: false)
            try stack.addStorageAndWait(storage)
            try stack.perform(synchronous: { try HistoryFixture.order(9, in: $0) })
            try stack.removeStorage(storage)
        }

        func save() throws { try #require(storage as? any LocalStorage).backup(to: backup) }

        /// Restores the backup while the store is not in the stack.
        func restore(_ stack: DataStack, before: () throws -> Void = {}) throws {
            try stack.removeStorage(storage)
            try HistoryFixture.restore(backup, to: file)
            try before()
            try stack.addStorageAndWait(storage)
        }
    }

    /// The history of the backup gets the numbers of the processed events again.
    @Test func eventsBeforeTheRestorationOfABackupAreNotAcknowledged() async throws {
        let store = Restorable(), stack = try store.stack()
        // Each pass of the tracker shows the store that it is active.
        let options = PersistentHistoryTrackingOptions(keepsHistoryFor: .seconds(3600), purgeInterval: .zero)
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app", options: options)
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        try store.save()
        for author in ["a", "b", "c"] { try order(stack, author: TransactionAuthor(author)) }
        for expected in ["a", "b"] { #expect(text(await events.next()) == expected) }
        #expect(try await HistoryFixture.becomes { try stack.historyConsumer("tracker.app").status()?.lag == 2 })
        try store.restore(stack)
        for author in ["d", "e", "f"] { try order(stack, author: TransactionAuthor(author)) }
        // Now the one before is processed.
        #expect(text(await events.next()) == "c")
        // The gap is not processed: until then the consumer is expired.
        #expect(try await HistoryFixture.becomes { try stack.historyConsumer("tracker.app").status()?.isExpired == true })
        try await Task.sleep(for: .milliseconds(300))
        let status = try #require(try stack.historyConsumer("tracker.app").status())
        #expect(status.isExpired && status.seen > status.registered)
        for expected in ["gap", "d", "e", "f"] { #expect(text(await events.next()) == expected) }
        tracker.stopMonitoring()
    }

    /// The program ends before a listener has processed the gap.
    @Test func theGapOfARestorationIsReportedAgainByTheNextTracker() async throws {
        let store = Restorable(), stack = try store.stack()
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        try order(stack, author: "a")
        #expect(text(await events.next()) == "a")
        try store.save()
        for author in ["b", "c"] { try order(stack, author: TransactionAuthor(author)) }
        for expected in ["b", "c"] { #expect(text(await events.next()) == expected) }
        try store.restore(stack)
        for author in ["d", "e", "f"] { try order(stack, author: TransactionAuthor(author)) }
        #expect(text(await events.next()) == "gap")
        tracker.stopMonitoring()
        try stack.removeStorage(store.storage)

        let later = try store.stack(), next = PersistentHistoryTracker(later, currentAuthor: "app")
        var more = next.events().makeAsyncIterator()
        next.startMonitoring()
        #expect(text(await more.next()) == "gap")
        try order(later, author: "g")
        #expect(text(await more.next()) == "g")
        #expect(try await HistoryFixture.becomes { try later.historyConsumer("tracker.app").status()?.isExpired == false })
        next.stopMonitoring()
    }

    /// - Parameter isHeard: Whether a listener has processed events after the backup, or the tracker has only read them.
    @Test(arguments: [true, false])
    func aRestoredStoreThatWasWrittenPastThePositionHasAGap(isHeard: Bool) async throws {
        let store = Restorable(), stack = try store.stack()
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        tracker.startMonitoring()
        let consumer = try stack.historyConsumer("tracker.app")
        #expect(try await HistoryFixture.becomes { try consumer.status()?.lag == 0 })
        try store.save()
        for author in ["a", "b"] { try order(stack, author: TransactionAuthor(author)) }
        var events = tracker.events().makeAsyncIterator(), others = tracker.events().makeAsyncIterator()
        if isHeard { for expected in ["a", "b"] { #expect(text(await events.next()) == expected) } }
        // Another listener shows that both events have been read.
        if !isHeard { #expect(text(await events.next()) == "a") }
        for expected in ["a", "b"] { #expect(text(await others.next()) == expected) }
        try store.restore(stack) {
            let other = try store.stack()
            for author in ["c", "d", "e"] { try order(other, author: TransactionAuthor(author)) }
            try other.removeStorage(store.storage)
        }
        try order(stack, author: "f")
        for expected in isHeard ? ["gap", "f"] : ["b", "gap", "f"] { #expect(text(await events.next()) == expected) }
        tracker.stopMonitoring()
    }

    /// The tracker has read no transaction that it could recognize, but its consumer is missing.
    @Test func aBackupFromBeforeTheRegistrationHasAGap() async throws {
        let store = Restorable(), stack = try store.stack()
        try order(stack, author: "before")
        try store.save()
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        let consumer = try stack.historyConsumer("tracker.app")
        #expect(try await HistoryFixture.becomes { try consumer.status().map { $0.seen > $0.registered } ?? false })
        try store.restore(stack) {
            let other = try store.stack()
            try order(other, author: "a")
            try other.removeStorage(store.storage)
        }
        try order(stack, author: "b")
        for expected in ["gap", "b"] { #expect(text(await events.next()) == expected) }
        tracker.stopMonitoring()
    }

    /// The tracker's position is valid again as soon as the restored store records its history.
    @Test func aRestoredStoreWithUnrecordedChangesHasGaps() async throws {
        let store = Restorable(), stack = try store.stack()
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        try store.save()
        let before = (1...5).map { "a\($0)" }
        for author in before { try order(stack, author: TransactionAuthor(author)) }
        for expected in before { #expect(text(await events.next()) == expected) }
        try store.restore(stack) { try store.commitUnrecorded() }
        #expect(text(await events.next()) == "gap")
        try order(stack, author: "b")
        #expect(text(await events.next()) == "gap")
        try order(stack, author: "c")
        #expect(text(await events.next()) == "c")
        tracker.stopMonitoring()
    }

    @Test func unrecordedChangesBeforeAnAdditionAreOneGap() async throws {
        let store = Restorable(), stack = try store.stack()
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        try order(stack, author: "a")
        #expect(text(await events.next()) == "a")
        try stack.removeStorage(store.storage)
        try store.commitUnrecorded()
        try HistoryFixture.delayingReads(stack) {
            try stack.addStorageAndWait(store.storage)
            try order(stack, author: "b")
        }
        #expect(text(await events.next()) == "gap")
        try order(stack, author: "c")
        #expect(text(await events.next()) == "c")
        tracker.stopMonitoring()
    }

    /// Neither the other commits nor the numbers differ.
    @Test func aStoreThatIsAddedAgainWithoutARestorationHasNoGap() async throws {
        let store = Restorable(), stack = try store.stack()
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        try order(stack, author: "a")
        #expect(text(await events.next()) == "a")
        try store.save()
        try order(stack, author: "b")
        #expect(text(await events.next()) == "b")
        try stack.removeStorage(store.storage)
        let other = try store.stack()
        try order(other, author: "c")
        try other.removeStorage(store.storage)
        try stack.addStorageAndWait(store.storage)
        try order(stack, author: "d")
        for expected in ["c", "d"] { #expect(text(await events.next()) == expected) }
        tracker.stopMonitoring()
    }
}

/// Deliveries of commits to a store that is removed and added again.
@Suite struct RemovedStoreTests {
    private final class Counter: CommitSubscriber {
        private let counts = Mutex<[Bool: Int]>([:])

        func receive(_ changes: CommittedChanges) {
            if changes.author == "writer" { counts.withLock { $0[changes.isRemote, default: 0] += 1 } }
        }

        /// The deliveries, by whether they are of a commit outside of the stack.
        var all: [Bool: Int] { counts.withLock { $0 } }
    }

    @Test(arguments: HistoryFixture.shared)
    func aCommitIsDeliveredOnceIfAnotherInstanceOfItsStoreIsAddedMeanwhile(_ store: TestStore) throws {
        let name = "polystore_\(UUID().uuidString.lowercased())"
        let hooked = HookedStore(store.make(named: name)), other = store.make(named: name)
        let stack = try DataStack(schema: HistoryFixture.schema()), counter = Counter()
        try stack.addStorageAndWait(hooked)
        try stack.core.observe(counter)
        let isDone = DispatchSemaphore(value: 0), failures = Mutex<[any Error]>([]), isFirst = Atomic(true)
        @Sendable func run(_ body: @escaping @Sendable () throws -> Void) {
            Thread.detachNewThread {
                do { try body() } catch { failures.withLock { $0.append(error) } }
                isDone.signal()
            }
        }
        hooked.setHook { event in
            if event != .commit || !isFirst.exchange(false, ordering: .relaxed) { return }
            run { try stack.removeStorage(hooked) }
            while !stack.storages.isEmpty { Thread.sleep(forTimeInterval: 0.001) }
            run { try stack.addStorageAndWait(other) }
            // The other instance would be added now.
            Thread.sleep(forTimeInterval: 0.5)
        }
        defer { hooked.setHook(nil) }
        try stack.perform(author: "writer", synchronous: { try HistoryFixture.order(1, in: $0) })
        for _ in 0..<2 { isDone.wait() }
        #expect(failures.withLock { $0 }.isEmpty)
        try stack.perform(author: "writer", synchronous: { try HistoryFixture.order(2, in: $0) })
        Thread.sleep(forTimeInterval: 0.5)
        #expect(counter.all == [false: 2])
        try? other.erase()
    }
}
