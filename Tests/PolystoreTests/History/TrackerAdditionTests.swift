import Foundation
import Polystore
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
    private func firstEvents(_ count: Int, refusing refused: Set<HookedStore.Event>) async throws -> [String?] {
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

    /// The history of the backup gets the numbers of the processed events again.
    @Test func eventsBeforeTheRestorationOfABackupAreNotAcknowledged() async throws {
        let name = "polystore_\(UUID().uuidString.lowercased())", storage = TestStore.sqlite.make(named: name)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(name + ".db")
        let backup = file.appendingPathExtension("backup"), files = try #require(storage as? any LocalStorage)
        let stack = try DataStack(schema: HistoryFixture.schema())
        try stack.addStorageAndWait(storage)
        // Each pass of the tracker shows the store that it is active.
        let options = PersistentHistoryTrackingOptions(keepsHistoryFor: .seconds(3600), purgeInterval: .zero)
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app", options: options)
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        try files.backup(to: backup)
        for author in ["a", "b", "c"] { try order(stack, author: TransactionAuthor(author)) }
        for expected in ["a", "b"] { #expect(text(await events.next()) == expected) }
        #expect(try await HistoryFixture.becomes { try stack.historyConsumer("tracker.app").status()?.lag == 2 })
        try stack.removeStorage(storage)
        try HistoryFixture.restore(backup, to: file)
        try stack.addStorageAndWait(storage)
        for author in ["d", "e", "f"] { try order(stack, author: TransactionAuthor(author)) }
        // Now the one before is processed.
        #expect(text(await events.next()) == "c")
        try await Task.sleep(for: .milliseconds(300))
        #expect(try stack.historyConsumer("tracker.app").status()?.lag == 3)
        for expected in ["gap", "d", "e", "f"] { #expect(text(await events.next()) == expected) }
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
