import Foundation
import Polystore
import PolystoreStorage
import Synchronization
import TestStores
import Testing

/// In some stores a commit waits for readers, and new readers wait for the commit. So whoever reads holds one snapshot of a store at a time, and
/// none while it waits for a commit.
@Suite struct OpenSnapshotTests {
    private static let schema = Result { try Schema(entities: [Entity("Left", attributes: [Attribute("x", .int64)])]) }

    private let all = From<DynamicObject>(entity: "Left")

    private func stack(_ store: any StorageInterface) throws -> DataStack {
        let stack = try DataStack(schema: Self.schema.get())
        try stack.addStorageAndWait(store)
        return stack
    }

    private func add(to stack: DataStack) throws {
        try stack.perform(synchronous: { try $0.create(Into<DynamicObject>(entity: "Left")).setValue(.int(1), for: "x") })
    }

    private static func waits(_ holds: () -> Bool) -> Bool {
        for _ in 0..<20_000 {
            if holds() { return true }
            usleep(1000)
        }
        return false
    }

    @Test func aPublisherThatNeedsALaterSnapshotHasTheSharedOneReleased() throws {
        let counted = CountedSnapshots(TestStore.memory.make()), store = HookedStore(counted), stack = try stack(store)
        let first = try stack.publishList(all.limit(10)), last = try stack.publishList(all.limit(10))
        let hasBegun = DispatchSemaphore(value: 0), goesOn = DispatchSemaphore(value: 0)
        let here = ObjectIdentifier(Thread.current), isFirst = Atomic(true)
        store.setHook { event throws(StorageError) in
            guard event == .beginRead, ObjectIdentifier(Thread.current) != here, isFirst.exchange(false, ordering: .relaxed) else { return }
            hasBegun.signal()
            goesOn.wait()
        }
        try add(to: stack)
        #expect(hasBegun.wait(timeout: .now() + 60) == .success)
        // What it reads here may be newer than the snapshot that the publishers are about to share.
        try last.refetch(all.limit(20))
        goesOn.signal()
        // The publishers are updated in their order, by one commit after another.
        try add(to: stack)
        #expect(Self.waits { first.snapshot.count == 2 && last.snapshot.count == 2 })
        #expect(counted.begun > 0 && counted.nested == 0)
    }

    @Test func aPublisherOfAValueHasTheSharedSnapshotReleased() throws {
        let counted = CountedSnapshots(TestStore.memory.make()), stack = try stack(counted)
        let list = try stack.publishList(all.limit(10)), count = try stack.publishValue { [all] in try $0.fetchCount(all) }
        for number in 1...2 {
            try add(to: stack)
            #expect(Self.waits { list.snapshot.count == number && count.value == number })
        }
        #expect(counted.begun > 0 && counted.nested == 0)
    }

    @Test func whoReadsAHistoryHoldsNoSnapshotWhileACommitIsInFlight() throws {
        let name = "polystore_\(UUID().uuidString.lowercased())"
        let counted = CountedSnapshots(TestStore.sqlite.make(named: name)), store = HookedStore(counted), stack = try stack(store)
        let other = try self.stack(TestStore.sqlite.make(named: name)), list = try stack.publishList(all)
        try add(to: stack)
        try add(to: other)
        #expect(Self.waits { list.snapshot.count == 2 })
        let begun = Mutex(0), isReleased = Mutex(false), added = Mutex<Result<Void, any Error>?>(nil)
        store.setHook { event throws(StorageError) in
            if event == .commit { begun.withLock { $0 = counted.begun } }
            guard event == .committed else { return }
            // The commit has not ended for its stack when the history names it, and another one after it.
            added.withLock { $0 = Result { try add(to: other) } }
            let before = begun.withLock { $0 }
            isReleased.withLock { $0 = Self.waits { counted.begun > before } && Self.waits { counted.open == 0 } }
        }
        try add(to: stack)
        store.setHook(nil)
        try added.withLock { $0 }?.get()
        #expect(isReleased.withLock { $0 })
        #expect(Self.waits { list.snapshot.count == 4 })
    }

    @Test func aReadOfSeveralStoresHoldsNoSnapshotWhileItWaitsForTheirCommit() throws {
        let scene = try JointFailureTests.Scene(.init(left: .sqlite, right: .lmdb), through: CountedSnapshots.init)
        let counted = scene.stores.compactMap { $0.base as? CountedSnapshots }
        let hasRead = DispatchSemaphore(value: 0), goesOn = DispatchSemaphore(value: 0), hasEnded = DispatchSemaphore(value: 0)
        let read = Mutex<[[Int]]>([]), isReleased = Mutex(false)
        Thread.detachNewThread { [stack = scene.stack] in
            try? stack.read(synchronous: { transaction in
                var counts = [try transaction.fetchCount(From<DynamicObject>(entity: "Left"))]
                if read.withLock({ $0.isEmpty }) {
                    hasRead.signal()
                    goesOn.wait()
                }
                read.withLock { $0.append(counts) }
                counts.append(try transaction.fetchCount(From<DynamicObject>(entity: "Right")))
                read.withLock { $0.append(counts) }
            })
            hasEnded.signal()
        }
        hasRead.wait()
        scene.follower.setHook { event throws(StorageError) in
            guard event == .commit else { return }
            goesOn.signal()
            isReleased.withLock { $0 = Self.waits { counted.allSatisfy { $0.open == 0 } } }
        }
        try JointFailureTests.Scene.write(2, scene.stack)
        #expect(hasEnded.wait(timeout: .now() + 60) == .success)
        #expect(counted.count == 2 && isReleased.withLock { $0 })
        #expect(read.withLock { $0.last } == [2, 2])
    }
}

/// A store that counts the snapshots that are held.
private final class CountedSnapshots: ForwardingStore {
    private struct State: Sendable {
        var begun = 0
        var nested = 0
        /// The open snapshots, by the threads that began them.
        var open: [ObjectIdentifier: Int] = [:]
    }

    static let storeType = "counted snapshots"
    let base: any StorageInterface
    private let state = Mutex(State())

    init(_ base: any StorageInterface) { self.base = base }

    var begun: Int { state.withLock { $0.begun } }
    var open: Int { state.withLock { $0.open.values.reduce(0, +) } }
    /// The number of those that began on a thread that held another one.
    var nested: Int { state.withLock { $0.nested } }

    func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader {
        let reader = try base.beginRead(options)
        // A writer, which reads another store before it commits, holds a lock anyway.
        if options.isForWriter { return reader }
        let thread = ObjectIdentifier(Thread.current)
        state.withLock { state in
            state.begun += 1
            if state.open[thread, default: 0] > 0 { state.nested += 1 }
            state.open[thread, default: 0] += 1
        }
        return Reader(reader, self, thread)
    }

    private final class Reader: ForwardingReader {
        let reader: any StorageReader
        private let store: CountedSnapshots
        private let thread: ObjectIdentifier
        private var hasEnded = false

        init(_ reader: any StorageReader, _ store: CountedSnapshots, _ thread: ObjectIdentifier) {
            self.reader = reader
            self.store = store
            self.thread = thread
        }

        func end() {
            reader.end()
            if !hasEnded { store.state.withLock { $0.open[thread, default: 0] -= 1 } }
            hasEnded = true
        }
    }
}
