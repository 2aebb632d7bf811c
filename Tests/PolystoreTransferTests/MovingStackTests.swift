import Foundation
import Polystore
import PolystoreStorage
import PolystoreTransfer
import Synchronization
import TestStores
import Testing

/// A stack that moves one of its stores while it is used.
@Suite struct MovingStackTests {
    private static let pairs = LiveTransferTests.Pair.some

    private static func schema() throws -> Schema {
        try Schema(
            entities: [Entity("Note", attributes: [Attribute("number", .int64)]), Entity("Other", attributes: [Attribute("x", .int64)])],
            configurations: ["Notes": ["Note"], "Others": ["Other"]])
    }

    private static let notes = From<DynamicObject>(entity: "Note")

    private static func add(_ number: Int64, _ stack: DataStack) throws {
        try stack.perform(synchronous: { try $0.create(Into<DynamicObject>(entity: "Note")).setValue(.int(number), for: "number") })
    }

    private static func numbers(_ stack: DataStack) throws -> [Int64] {
        try stack.fetchAll(notes.orderBy(.ascending("number"))).map {
            if case .int(let number) = try $0.value("number") { number } else { -1 }
        }
    }

    /// The history of the target does not have what the tracker has not read in the source.
    @Test(.timeLimit(.minutes(5)), arguments: pairs) func aTrackerHasAGapAfterAMove(_ pair: LiveTransferTests.Pair) async throws {
        let stack = try DataStack(schema: Self.schema()), source = pair.source.make(), target = pair.target.make()
        defer { for store in [source, target] as [any StorageInterface] { try? store.erase() } }
        try stack.addStorageAndWait(source)
        let options = PersistentHistoryTrackingOptions(bufferedEvents: 2)
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app", options: options)
        let events = tracker.events()
        tracker.startMonitoring()
        for number in 0..<6 { try Self.add(Int64(number), stack) }
        try stack.moveStorage(source, to: target, named: "elsewhere")
        var found: [String] = [], wasGap = false
        // What was read before the move is delivered; then there is a gap.
        for await event in events {
            switch event {
            case .transaction(let transaction): found.append(transaction.author.name)
            case .gap: wasGap = true
            }
            if wasGap {
                if found.last == "new" { break }
                try stack.perform(
                    author: "new",
                    synchronous: { try $0.create(Into<DynamicObject>(entity: "Note")).setValue(.int(9), for: "number") })
                found = []
            }
        }
        #expect(wasGap && found == ["new"])
        tracker.stopMonitoring()
    }

    /// The history of the first store continues with the changes of the move, in other transactions than those of the second store.
    @Test(.timeLimit(.minutes(5))) func aTrackerHasAGapAfterAMoveBack() async throws {
        let source = TestStore.sqlite.make(), target = TestStore.sqlite.make(), stack = try DataStack(schema: Self.schema())
        defer { for store in [source, target] as [any StorageInterface] { try? store.erase() } }
        try stack.addStorageAndWait(source)
        let tracker = PersistentHistoryTracker(stack, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator(), heard: [String] = []
        func next() async {
            switch await events.next() {
            case .transaction(let transaction): heard.append(transaction.author.name)
            case .gap: heard.append("gap")
            case nil: heard.append("end")
            }
        }
        func add(_ author: TransactionAuthor) throws {
            try stack.perform(
                author: author, synchronous: { try $0.create(Into<DynamicObject>(entity: "Note")).setValue(.int(1), for: "number") })
        }
        tracker.startMonitoring()
        try add("a")
        await next()
        try stack.moveStorage(source, to: target, named: "elsewhere")
        await next()
        for author in ["b", "app"] as [TransactionAuthor] { try add(author) }
        await next()
        try stack.moveStorage(target, to: source, named: "here")
        await next()
        try add("c")
        await next()
        #expect(heard == ["a", "gap", "b", "gap", "c"])
        tracker.stopMonitoring()
    }

    /// A store that was prepared has a consumer which knows nothing of the moved objects; one that nobody uses does not become active.
    @Test func consumersOfTheTargetAreExpiredToo() throws {
        let source = TestStore.sqlite.make(), target = TestStore.sqlite.make(), stack = try DataStack(schema: Self.schema())
        defer { for store in [source, target] as [any StorageInterface] { try? store.erase() } }
        let prepared = try DataStack(schema: Self.schema())
        try prepared.addStorageAndWait(target)
        try prepared.historyConsumer("own").register(from: .now)
        try prepared.removeStorage(target)
        try stack.addStorageAndWait(source)
        try stack.historyConsumer("index").register(from: .now)
        let before = try #require(try stack.historyConsumer("index").status())
        try Self.add(1, stack)
        try stack.moveStorage(source, to: target, named: "elsewhere")
        let consumers = try stack.historyConsumers()
        #expect(Set(consumers.map(\.name)) == ["own", "index"])
        #expect(consumers.allSatisfy { $0.isExpired })
        let after = try #require(consumers.first { $0.name == "index" })
        #expect(after.seen == before.seen && after.registered == before.registered)
    }

    /// Also a consumer of a program that is not running must learn that the target has another history.
    @Test(arguments: pairs) func consumersAreExpiredInTheTarget(_ pair: LiveTransferTests.Pair) throws {
        let stack = try DataStack(schema: Self.schema()), source = pair.source.make(), target = pair.target.make()
        defer { for store in [source, target] as [any StorageInterface] { try? store.erase() } }
        try stack.addStorageAndWait(source)
        try stack.historyConsumer("index").register(from: .now)
        for number in 0..<3 { try Self.add(Int64(number), stack) }
        try stack.moveStorage(source, to: target, named: "elsewhere")
        let consumer = try stack.historyConsumer("index")
        #expect(try consumer.status()?.isExpired == true)
        #expect(#expect(throws: StorageError.self) { try consumer.next() }?.code == .tokenExpired)
        try consumer.restart(from: .now)
        #expect(try consumer.status()?.isExpired == false)
        #expect(try stack.historyConsumers().map(\.name) == ["index"])
    }

    /// The program ends after the move, before its tracker has read the target.
    @Test(.timeLimit(.minutes(5))) func aTrackerOfALaterRunHasAGapAfterAMove() async throws {
        let name = "polystore_\(UUID().uuidString.lowercased())"
        let source = TestStore.memory.make(), target = TestStore.sqlite.make(named: name), stack = try DataStack(schema: Self.schema())
        defer { try? target.erase() }
        try stack.addStorageAndWait(source)
        try stack.historyConsumer("tracker.app").register(from: .now)
        try Self.add(1, stack)
        try stack.moveStorage(source, to: target, named: "elsewhere")
        try stack.removeStorage(target)
        let later = try DataStack(schema: Self.schema())
        try later.addStorageAndWait(TestStore.sqlite.make(named: name))
        let tracker = PersistentHistoryTracker(later, currentAuthor: "app")
        var events = tracker.events().makeAsyncIterator()
        tracker.startMonitoring()
        let event = await events.next()
        guard case .gap = event else { return #expect(Bool(false), "the first event is not a gap") }
        tracker.stopMonitoring()
    }

    /// Consumers that were registered or unregistered in the other store are as they were there.
    @Test func consumersFollowAStoreThereAndBack() throws {
        let source = TestStore.sqlite.make(), target = TestStore.sqlite.make(), stack = try DataStack(schema: Self.schema())
        defer { for store in [source, target] as [any StorageInterface] { try? store.erase() } }
        try stack.addStorageAndWait(source)
        for name in ["kept", "gone", "transfer to archive"] { try stack.historyConsumer(name).register(from: .now) }
        try Self.add(1, stack)
        try stack.moveStorage(source, to: target, named: "elsewhere")
        #expect(Set(try stack.historyConsumers().map(\.name)) == ["kept", "gone", "transfer to archive"])
        try stack.historyConsumer("gone").unregister()
        try stack.historyConsumer("added").register(from: .now)
        try stack.moveStorage(target, to: source, named: "here")
        let consumers = try stack.historyConsumers()
        #expect(Set(consumers.map(\.name)) == ["kept", "transfer to archive", "added"])
        #expect(consumers.allSatisfy { $0.isExpired })
    }

    @Test(arguments: pairs) func transactionsContinueInTheTarget(_ pair: LiveTransferTests.Pair) async throws {
        let stack = try DataStack(schema: Self.schema()), source = pair.source.make(), target = pair.target.make()
        defer { for store in [source, target] as [any StorageInterface] { try? store.erase() } }
        try stack.addStorageAndWait(source)
        for number in 0..<500 { try Self.add(Int64(number), stack) }
        let commits = try stack.commits(.gap(after: 100_000)), isDone = Mutex(false), ended = DispatchSemaphore(value: 0)
        let added = Mutex<Int64>(500)
        Thread {
            // Not one of the transactions fails.
            while !isDone.withLock({ $0 }) {
                do { try Self.add(added.withLock { $0 }, stack) } catch { Issue.record(error) }
                added.withLock { $0 += 1 }
            }
            ended.signal()
        }.start()
        let report = try stack.moveStorage(source, to: target, named: "elsewhere")
        #expect(!report.verified.isEmpty)
        #expect(stack.storages.map { $0 === target } == [true])
        let atCutOver = added.withLock { $0 }
        func awaitMore() { while added.withLock({ $0 }) < atCutOver + 20 { Thread.sleep(forTimeInterval: 0.01) } }
        awaitMore()
        isDone.withLock { $0 = true }
        func awaitEnd() { ended.wait() }
        awaitEnd()
        let count = added.withLock { $0 }
        #expect(try Self.numbers(stack) == Array(0..<count))
        // A store that was moved says where its objects are.
        let refused = #expect(throws: StorageError.self) { try OpenStore(opening: source, OpenRequest(schema: nil)).close() }
        if pair.source != .memory { #expect(refused?.code == .storeMoved && refused?.message.contains("elsewhere") == true) }
        // The feed goes on, and says that it does not know the objects of the other store.
        try stack.perform(
            author: "last", synchronous: { try $0.create(Into<DynamicObject>(entity: "Note")).setValue(.int(-5), for: "number") })
        var unknown = 0
        for await commit in commits {
            unknown += commit.unknownStores.count
            if commit.authors.contains("last") { break }
        }
        #expect(unknown > 0)
    }

    @Test func oneStoreOfSeveralIsMoved() throws {
        let stack = try DataStack(schema: Self.schema()), source = TestStore.sqlite.make(configuration: "Notes")
        let other = TestStore.sqlite.make(configuration: "Others"), target = TestStore.lmdb.make(configuration: "Notes")
        defer { for store in [source, other, target] as [any StorageInterface] { try? store.erase() } }
        for store in [source, other] { try stack.addStorageAndWait(store) }
        try Self.add(1, stack)
        let wrong = TestStore.memory.make()
        let refused = #expect(throws: StorageError.self) { try stack.moveStorage(source, to: wrong, named: "x") }
        #expect(refused?.code == .invalidConfiguration)
        try stack.moveStorage(source, to: target, named: "elsewhere")
        try Self.add(2, stack)
        #expect(try Self.numbers(stack) == [1, 2])
        try stack.perform(synchronous: { try $0.create(Into<DynamicObject>(entity: "Other")).setValue(.int(1), for: "x") })
        #expect(try stack.fetchCount(From<DynamicObject>(entity: "Other")) == 1)
    }

    /// Which of the stores keeps notes of the other one is decided by the pair.
    @Test(
        arguments: [(TestStore.sqlite, TestStore.sqlite), (.lmdb, .sqlite), (.sqlite, .postgresql)].filter { TestStore.all.contains($0.1) })
    func aStoreOfJointCommitsIsNotMoved(_ left: TestStore, _ right: TestStore) throws {
        let stack = try DataStack(schema: Self.schema())
        let notes = left.make(configuration: "Notes"), others = right.make(configuration: "Others")
        defer { for store in [notes, others] { try? store.erase() } }
        for store in [notes, others] { try stack.addStorageAndWait(store) }
        func addBoth(_ number: Int64) throws {
            try stack.perform(synchronous: { transaction in
                try transaction.create(Into<DynamicObject>(entity: "Note")).setValue(.int(number), for: "number")
                try transaction.create(Into<DynamicObject>(entity: "Other")).setValue(.int(number), for: "x")
            })
        }
        try addBoth(1)
        for (store, configuration) in [(notes, "Notes"), (others, "Others")] {
            let target = TestStore.sqlite.make(configuration: configuration)
            defer { try? target.erase() }
            let refused = #expect(throws: StorageError.self) { try stack.moveStorage(store, to: target, named: "x") }
            #expect(refused?.code == .peerUnavailable)
        }
        try addBoth(2)
        #expect(try Self.numbers(stack) == [1, 2])
    }

    @Test func idsOfObjectsOfTheStoreAndASecondMoveAreRefused() throws {
        let reference = CrossReference(to: "Note")
        let stack = try DataStack(
            schema: Schema(
                entities: [
                    Entity("Note", attributes: [Attribute("number", .int64)]),
                    Entity("Other", attributes: [Attribute("note", .string, isOptional: true, crossReference: reference)]),
                ], configurations: ["Notes": ["Note"], "Others": ["Other"]]))
        let notes = TestStore.sqlite.make(configuration: "Notes"), others = TestStore.lmdb.make(configuration: "Others")
        let target = TestStore.sqlite.make(configuration: "Notes"), second = TestStore.sqlite.make(configuration: "Others")
        defer { for store in [notes, others, target, second] { try? store.erase() } }
        for store in [notes, others] { try stack.addStorageAndWait(store) }
        let refused = #expect(throws: StorageError.self) { try stack.moveStorage(notes, to: target, named: "x") }
        #expect(refused?.code == .unsupported && refused?.details.property == "note")
        try stack.replaceStorage(others, by: OpenStore(opening: second, OpenRequest(schema: stack.schema))) { _ in
            let busy = #expect(throws: StorageError.self) {
                try stack.replaceStorage(notes, by: OpenStore(opening: target, OpenRequest(schema: stack.schema))) { _ in }
            }
            #expect(busy?.code == .busy)
        }
        try stack.moveStorage(others, to: TestStore.memory.make(configuration: "Others"), named: "memory")
    }

    @Test func afterAnErrorTheStackUsesTheSource() throws {
        let stack = try DataStack(schema: Self.schema()), source = TestStore.sqlite.make(), target = TestStore.lmdb.make()
        defer { for store in [source, target] as [any StorageInterface] { try? store.erase() } }
        try stack.addStorageAndWait(source)
        for number in 0..<10 { try Self.add(Int64(number), stack) }
        let limit = WorkLimit()
        limit.cancel()
        let failed = #expect(throws: StorageError.self) { try stack.moveStorage(source, to: target, named: "x", limit: limit) }
        #expect(failed?.code == .cancelled)
        try Self.add(10, stack)
        #expect(stack.storages.map { $0 === source } == [true])
        try stack.perform(synchronous: { _ in
            let failed = #expect(throws: StorageError.self) { try stack.moveStorage(source, to: target, named: "x") }
            #expect(failed?.code == .reentrantCall)
        })
        // The same call goes on.
        try stack.moveStorage(source, to: target, named: "elsewhere")
        #expect(try Self.numbers(stack) == Array(0...10))
    }

    @Test(arguments: TestStore.all.filter { $0 != .memory }) func aTargetThatReceivedNothingIsAnEmptyStore(_ kind: TestStore) throws {
        let stack = try DataStack(schema: Self.schema()), source = TestStore.sqlite.make(), target = kind.make()
        defer { for store in [source, target] as [any StorageInterface] { try? store.erase() } }
        try stack.addStorageAndWait(source)
        let limit = WorkLimit()
        limit.cancel()
        let failed = #expect(throws: StorageError.self) { try stack.moveStorage(source, to: target, named: "x", limit: limit) }
        #expect(failed?.code == .cancelled)
        try OpenStore(opening: target, OpenRequest(schema: stack.schema)).close()
    }

    /// A store that cannot be opened.
    private final class ClosedTarget: StorageInterface {
        static let storeType = "closed"
        let configuration: String? = nil
        let capabilities = StorageCapabilities([], maximumValueBytes: 0, maximumColumns: 0)
        /// The names of the notes of the request.
        let notes = Mutex<[String]>([])

        func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
            notes.withLock { $0 = request.notes.keys.sorted() }
            throw StorageError(.corrupted, "closed")
        }

        func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader { throw StorageError(.storeClosed, "closed") }
        func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter { throw StorageError(.storeClosed, "closed") }
        func close() throws(StorageError) {}
        func erase() throws(StorageError) {}
    }

    /// A process may end between the creation of the target and the first step of the copy.
    @Test func aTargetIsMadeAsAnIncompleteCopy() throws {
        let stack = try DataStack(schema: Self.schema()), source = TestStore.memory.make(), target = ClosedTarget()
        try stack.addStorageAndWait(source)
        #expect(throws: StorageError.self) { try stack.moveStorage(source, to: target, named: "x") }
        #expect(target.notes.withLock { $0 } == [CopyNote.incomplete])
    }
}
