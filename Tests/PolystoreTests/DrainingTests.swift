import Foundation
import Polystore
import PolystoreInMemory
import Synchronization
import TestStores
import Testing

/// What a shutdown waits for, and what it does not wait for.
@Suite(.timeLimit(.minutes(2))) struct DrainingTests {
    private func code(_ body: () async throws -> Void) async -> StorageError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? StorageError)?.code
        }
    }

    private func stack(_ storage: any StorageInterface) throws -> DataStack {
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(storage)
        try stack.perform(synchronous: { transaction in
            for number in 10..<40 { try transaction.create(Person.self).name = "P\(number)" }
        })
        return stack
    }

    /// Runs work that may block on a thread of its own, so that no thread of Swift's pool waits.
    private func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { done in
            Thread.detachNewThread { done.resume(with: Result { try body() }) }
        }
    }

    /// Waits until a stack begins no new work.
    private func isClosing(_ stack: DataStack) async throws {
        while await code({ try await stack.read { _ in } }) == nil { try await Task.sleep(for: .milliseconds(1)) }
    }

    // MARK: Stores that are being added

    @Test(arguments: [true, false]) func aStoreThatIsBeingAddedIsClosedAgain(_ waits: Bool) async throws {
        let storage = SlowlyOpenedStore(), stack = try DataStack(Person.self, Animal.self, Dog.self)
        let addition = Task {
            if waits { _ = try await onThread { try stack.addStorageAndWait(storage) } } else { _ = try await stack.addStorage(storage) }
        }
        while !storage.isOpening { try await Task.sleep(for: .milliseconds(1)) }
        let hasEnded = try await stack.shutdown(draining: .milliseconds(20))
        #expect(!hasEnded)
        storage.mayOpen.signal()
        #expect(await code { try await addition.value } == .storeClosed)
        #expect(!storage.isOpen && stack.storages.isEmpty)
    }

    @Test func aShutdownWaitsForAnAddition() async throws {
        let storage = SlowlyOpenedStore(), stack = try DataStack(Person.self, Animal.self, Dog.self)
        let addition = Task { try await stack.addStorage(storage) }
        while !storage.isOpening { try await Task.sleep(for: .milliseconds(1)) }
        async let hasEnded = stack.shutdown(draining: .seconds(30))
        try await isClosing(stack)
        storage.mayOpen.signal()
        let isDrained = try await hasEnded
        #expect(isDrained && !storage.isOpen && stack.storages.isEmpty)
        #expect(await code { _ = try await addition.value } == .storeClosed)
    }

    // MARK: Statements

    /// The ways to run a statement that would not end by itself.
    enum Endless: String, CaseIterable, Sendable {
        case transaction, read, fetch

        func run(_ stack: DataStack, _ sql: RawSQL) throws {
            switch self {
            case .transaction: try stack.perform(synchronous: { _ = try $0.execute(sql) })
            case .read: _ = try stack.read(synchronous: { try $0.queryRows(sql) })
            case .fetch: _ = try stack.queryRows(sql)
            }
        }
    }

    /// A fetch outside of a transaction or read is ended where it runs on a server.
    @Test(arguments: [TestStore.sqlite, .postgresql], Endless.allCases)
    func aShutdownEndsStatements(_ kind: TestStore, _ endless: Endless) async throws {
        if endless == .fetch, kind == .sqlite { return }
        let stack = try stack(kind.make()), mark = Int.random(in: 1...1_000_000_000)
        let numbers: RawSQL = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i <> -\(mark))"
        let sql: RawSQL =
            endless == .transaction
            ? "\(numbers) DELETE FROM \"Person\" WHERE 7 = (SELECT count(*) FROM n)" : "\(numbers) SELECT count(*) FROM n"
        let isRunning = Atomic(false)
        async let ended = code {
            try await onThread {
                isRunning.store(true, ordering: .sequentiallyConsistent)
                try endless.run(stack, sql)
            }
        }
        while !isRunning.load(ordering: .sequentiallyConsistent) { try await Task.sleep(for: .milliseconds(1)) }
        try await Task.sleep(for: .milliseconds(100))
        let hasEnded = try await stack.shutdown(draining: .milliseconds(10))
        #expect(!hasEnded)
        #expect(await ended == .storeClosed)
    }

    // MARK: Fetches

    /// The ways to read from a stack.
    enum Read: String, CaseIterable, Sendable {
        case fetchAll, fetchOne, fetchCount, fetchIDs, fetchPage, queryValue, explain, publishList, publishValue

        /// Returns whether the answer is right.
        func run(_ stack: DataStack) throws -> Bool {
            let people = From<Person>().orderBy(.ascending(\.name))
            switch self {
            case .fetchAll: return try stack.fetchAll(people).count == 30
            case .fetchOne: return try stack.fetchOne(people)?.name == "P10"
            case .fetchCount: return try stack.fetchCount(people) == 30
            case .fetchIDs: return try stack.fetchIDs(people).count == 30
            case .fetchPage: return try stack.fetchPage(people.limit(7)).objects.count == 7
            case .queryValue: return try stack.queryValue(From<Person>().select(Int.self, .count())) == 30
            case .explain: return try stack.explain(people, analyze: true).answer?.count == 30
            case .publishList: return try stack.publishList(people).snapshot.count == 30
            case .publishValue: return try stack.publishValue { try $0.fetchCount(From<Person>()) }.value == 30
            }
        }
    }

    @Test(arguments: Read.allCases) func noReadBeginsDuringAShutdown(_ read: Read) async throws {
        let stack = try stack(InMemoryStore()), begun = AsyncStream<Void>.makeStream(), mayEnd = DispatchSemaphore(value: 0)
        let task = Task {
            try await stack.read { _ in
                begun.continuation.finish()
                mayEnd.wait()
            }
        }
        for await _ in begun.stream {}
        async let hasEnded = stack.shutdown(draining: .seconds(30))
        try await isClosing(stack)
        #expect(await code { _ = try read.run(stack) } == .storeClosed)
        mayEnd.signal()
        try await task.value
        let isDrained = try await hasEnded
        #expect(isDrained)
        #expect(await code { _ = try read.run(stack) } == .storeClosed)
    }

    @Test(arguments: Read.allCases) func aShutdownWaitsForARunningRead(_ read: Read) async throws {
        let storage = HookedStore(InMemoryStore()), stack = try stack(storage)
        let mayRead = DispatchSemaphore(value: 0), isReading = Atomic(false)
        storage.setHook { event throws(StorageError) in
            guard event == .beginRead, !isReading.exchange(true, ordering: .sequentiallyConsistent) else { return }
            mayRead.wait()
        }
        async let isRight = onThread { try read.run(stack) }
        while !isReading.load(ordering: .sequentiallyConsistent) { try await Task.sleep(for: .milliseconds(1)) }
        async let hasEnded = stack.shutdown(draining: .seconds(30))
        try await isClosing(stack)
        try await Task.sleep(for: .milliseconds(30))
        #expect(stack.storages.count == 1)
        mayRead.signal()
        let (result, isDrained) = try await (isRight, hasEnded)
        #expect(result && isDrained && stack.storages.isEmpty)
    }

    @Test func aTransactionThatIsWaitedForReadsFromItsStack() async throws {
        let stack = try stack(InMemoryStore()), begun = AsyncStream<Void>.makeStream(), mayEnd = DispatchSemaphore(value: 0)
        let people = From<Person>().orderBy(.ascending(\.name))
        let task = Task {
            try await stack.perform { transaction in
                begun.continuation.finish()
                mayEnd.wait()
                try transaction.create(Person.self).name = "Ann"
                let cursor = try stack.fetchCursor(people)
                let first = try cursor.next()?.name
                cursor.close()
                return (try stack.fetchCount(people), try stack.read(synchronous: { try $0.fetchCount(people) }), first)
            }
        }
        for await _ in begun.stream {}
        async let hasEnded = stack.shutdown(draining: .seconds(30))
        try await isClosing(stack)
        mayEnd.signal()
        let (found, isDrained) = try await (task.value, hasEnded)
        #expect(found == (30, 30, "P10") && isDrained)
    }

    @Test(arguments: [true, false]) func aReadThatIsWaitedForReadsFromItsStack(_ isSynchronous: Bool) async throws {
        let stack = try stack(InMemoryStore()), begun = AsyncStream<Void>.makeStream(), mayEnd = DispatchSemaphore(value: 0)
        let people = From<Person>().orderBy(.ascending(\.name))
        // A read is no transaction, in which another one could not begin.
        try stack.read(synchronous: { _ in try stack.perform(synchronous: { _ in }) })
        let body: @Sendable (ReadTransaction) throws -> [Int] = { _ in
            begun.continuation.finish()
            mayEnd.wait()
            let cursor = try stack.fetchCursor(people)
            let first = try cursor.next()?.name == "P10" ? 1 : 0
            cursor.close()
            return [try stack.fetchCount(people), try stack.read(synchronous: { try $0.fetchCount(people) }), first]
        }
        let task = Task { isSynchronous ? try await onThread { try stack.read(synchronous: body) } : try await stack.read(body) }
        for await _ in begun.stream {}
        async let hasEnded = stack.shutdown(draining: .seconds(30))
        try await isClosing(stack)
        mayEnd.signal()
        let (found, isDrained) = try await (task.value, hasEnded)
        #expect(found == [30, 30, 1] && isDrained)
    }

    @Test func aShutdownWaitsForTheCommitOfADetachedTransaction() async throws {
        let storage = HookedStore(InMemoryStore()), stack = try stack(storage)
        let mayWrite = DispatchSemaphore(value: 0), isWriting = Atomic(false), storedCount = Atomic(0)
        storage.setHook { event throws(StorageError) in
            if event == .committed { storedCount.add(1, ordering: .sequentiallyConsistent) }
            guard event == .apply, !isWriting.exchange(true, ordering: .sequentiallyConsistent) else { return }
            mayWrite.wait()
        }
        async let commit: Void = onThread {
            let detached = stack.beginUnsafe()
            try detached.fetchOne(From<Person>())?.name = "Ann"
            try detached.commit()
        }
        while !isWriting.load(ordering: .sequentiallyConsistent) { try await Task.sleep(for: .milliseconds(1)) }
        async let hasEnded = stack.shutdown(draining: .seconds(30))
        try await isClosing(stack)
        try await Task.sleep(for: .milliseconds(30))
        #expect(stack.storages.count == 1)
        mayWrite.signal()
        try await commit
        let isDrained = try await hasEnded
        #expect(isDrained && storedCount.load(ordering: .sequentiallyConsistent) == 1)
    }

    // MARK: Streams

    @Test(arguments: TestStore.all) func aShutdownWaitsForOpenCursorsAndStreams(_ store: TestStore) async throws {
        let stack = try stack(store.make()), people = From<Person>().orderBy(.ascending(\.name)).batchSize(7)
        let cursor = try stack.fetchCursor(people)
        var stream = stack.fetchStream(people).makeAsyncIterator()
        #expect(try cursor.next()?.name == "P10")
        #expect(try await stream.next(isolation: nil)?.name == "P10")
        async let hasEnded = stack.shutdown(draining: .seconds(30))
        try await isClosing(stack)
        #expect(await code { _ = try stack.fetchCursor(people) } == .storeClosed)
        try await Task.sleep(for: .milliseconds(30))
        var counts = (cursor: 1, stream: 1)
        while try cursor.next() != nil { counts.cursor += 1 }
        #expect(stack.storages.count == 1)
        while try await stream.next(isolation: nil) != nil { counts.stream += 1 }
        let isDrained = try await hasEnded
        #expect(counts == (30, 30) && isDrained && stack.storages.isEmpty)
    }

    @Test(arguments: TestStore.all) func anAbandonedCursorIsWaitedForUntilTheEndOfTheTime(_ store: TestStore) async throws {
        let stack = try stack(store.make()), people = From<Person>().orderBy(.ascending(\.name)).batchSize(7)
        let cursor = try stack.fetchCursor(people), start = ContinuousClock.now
        _ = try cursor.next()
        let hasEnded = try await stack.shutdown(draining: .milliseconds(200))
        let duration = ContinuousClock.now - start
        #expect(!hasEnded && stack.storages.isEmpty)
        #expect(duration >= .milliseconds(200) && duration < .seconds(15))
        #expect(await code { while try cursor.next() != nil {} } == .storeClosed)
        // It has ended with its error.
        #expect(try await stack.shutdown())
    }

    @Test func aReleasedCursorIsNotWaitedFor() async throws {
        let stack = try stack(InMemoryStore())
        do { #expect(try stack.fetchCursor(From<Person>()).next() != nil) }
        #expect(try await stack.shutdown(draining: .seconds(30)))
    }

    // MARK: Observers

    @Test func whatAPublisherFetchesAgainIsNotWaitedFor() async throws {
        let storage = HookedStore(InMemoryStore()), stack = try stack(storage)
        let publisher = try stack.publishList(From<Person>()), mayRead = DispatchSemaphore(value: 0), isReading = Atomic(false)
        try stack.perform(synchronous: { try $0.create(Person.self).name = "Ann" })
        while publisher.snapshot.count < 31 { try await Task.sleep(for: .milliseconds(1)) }
        storage.setHook { event throws(StorageError) in
            guard event == .beginRead, !isReading.exchange(true, ordering: .sequentiallyConsistent) else { return }
            mayRead.wait()
        }
        try stack.perform(synchronous: { try $0.deleteAll(From<Person>()) })
        while !isReading.load(ordering: .sequentiallyConsistent) { try await Task.sleep(for: .milliseconds(1)) }
        let start = ContinuousClock.now
        let hasEnded = try await stack.shutdown(draining: .seconds(60))
        mayRead.signal()
        #expect(hasEnded && stack.storages.isEmpty && ContinuousClock.now - start < .seconds(40))
    }
}

/// A store that is opened when a test lets it.
private final class SlowlyOpenedStore: ForwardingStore {
    static let storeType = "slowly opened"
    let base: any StorageInterface = InMemoryStore()
    let mayOpen = DispatchSemaphore(value: 0)
    private let state = Mutex((isOpening: false, isOpen: false))

    var isOpening: Bool { @inline(never) get { state.withLock { $0.isOpening } } }
    var isOpen: Bool { @inline(never) get { state.withLock { $0.isOpen } } }

    func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        state.withLock { $0.isOpening = true }
        mayOpen.wait()
        let opened = try base.open(request)
        state.withLock { $0.isOpen = true }
        return opened
    }

    func close() throws(StorageError) {
        try base.close()
        state.withLock { $0.isOpen = false }
    }
}
