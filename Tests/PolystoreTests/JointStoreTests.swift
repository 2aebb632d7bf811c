import Foundation
import Polystore
import PolystorePostgreSQL
import PolystoreStorage
import Synchronization
import TestStores
import Testing

/// Transactions over two stores of which one is removed, in doubt, full, or in use by those who read.
@Suite struct JointStoreTests {
    typealias Pair = SeveralStoresTests.Pair
    fileprivate typealias Scene = JointFailureTests.Scene

    // MARK: Stores that are removed

    @Test(arguments: Pair.all, [true, false])
    func aStoreThatIsRemovedInTheMidstOfATransactionUndoesIt(_ pair: Pair, _ isLeader: Bool) throws {
        let scene = try Scene(pair), victim = isLeader ? scene.leader : scene.follower
        let error = #expect(throws: StorageError.self) {
            try scene.stack.perform(synchronous: { transaction in
                try Self.add(2, transaction)
                let isRemoved = DispatchSemaphore(value: 0), stack = scene.stack
                Thread.detachNewThread {
                    try? stack.removeStorage(victim)
                    isRemoved.signal()
                }
                #expect(isRemoved.wait(timeout: .now() + 20) == .success)
            })
        }
        #expect(error?.code == .storeClosed)
        try scene.stack.addStorageAndWait(victim)
        for entity in ["Left", "Right"] { #expect(try scene.numbers(entity) == [1]) }
        try Scene.write(3, scene.stack)
        for entity in ["Left", "Right"] { #expect(try scene.numbers(entity) == [1, 3]) }
    }

    /// Adds a number to both stores, and brings it to the engines.
    private static func add(_ number: Int64, _ transaction: WriteTransaction, _ entities: [String] = ["Left", "Right"]) throws {
        for entity in entities {
            try transaction.create(Into<DynamicObject>(entity: entity)).setValue(.int(number), for: "x")
            _ = try transaction.fetchCount(From<DynamicObject>(entity: entity))
        }
    }

    @Test(arguments: Pair.all) func aCommitThatHasBegunEndsBeforeItsStoresAreClosed(_ pair: Pair) throws {
        let scene = try Scene(pair), stack = scene.stack, stores = [scene.follower, scene.leader]
        let removals = DispatchGroup(), isFirst = Mutex(true)
        scene.leader.setHook { event throws(StorageError) in
            let isFirst = isFirst.withLock { isFirst in
                defer { if event == .committed { isFirst = false } }
                return isFirst
            }
            if event != .committed || !isFirst { return }
            for store in stores {
                removals.enter()
                Thread.detachNewThread {
                    try? stack.removeStorage(store)
                    removals.leave()
                }
            }
            let patience = ContinuousClock.now + .seconds(10)
            while !stack.storages.isEmpty, ContinuousClock.now < patience { Thread.sleep(forTimeInterval: 0.005) }
        }
        try Scene.write(2, stack)
        #expect(removals.wait(timeout: .now() + 20) == .success)
        #expect(stack.storages.isEmpty)
        scene.leader.setHook(nil)
        for store in stores { try stack.addStorageAndWait(store) }
        for entity in ["Left", "Right"] { #expect(try scene.numbers(entity) == [1, 2]) }
    }

    // MARK: Leaders in doubt

    @Test(arguments: JointFailureTests.files) func aLeaderInDoubtIsDecidedByTheNextTransactionOverBoth(_ pair: Pair) throws {
        let scene = try Scene(pair)
        try leaveInDoubt(2, scene)
        scene.leader.setHook(nil)
        for number in Int64(3)...4 {
            try scene.stack.perform(timeout: .seconds(5), synchronous: { try Self.add(number, $0, [scene.leaders, scene.followers]) })
        }
        for entity in ["Left", "Right"] { #expect(try scene.numbers(entity) == [1, 2, 3, 4]) }
    }

    @Test(arguments: JointFailureTests.files) func aLeaderInDoubtBlocksOnlyItsFollowers(_ pair: Pair) throws {
        let scene = try Scene(pair), third = TestStore.sqlite.make(configuration: "Third")
        defer { try? third.erase() }
        try scene.stack.addStorageAndWait(third)
        try leaveInDoubt(2, scene)
        func refuses() { #expect { try scene.add(7, to: scene.followers) } throws: { ($0 as? StorageError)?.code == .peerUnavailable } }
        try scene.add(5, to: "Third")
        refuses()
        try scene.stack.removeStorage(scene.leader)
        refuses()
        try scene.stack.forgetPeers(of: scene.follower)
        try scene.add(8, to: scene.followers)
        scene.leader.setHook(nil)
        try scene.stack.addStorageAndWait(scene.leader)
        for entity in [scene.followers, scene.leaders, "Third"] { try scene.add(9, to: entity) }
        #expect(try scene.numbers(scene.leaders) == [1, 2, 9])
        #expect(try scene.numbers(scene.followers) == [1, 8, 9])
        #expect(try scene.numbers("Third") == [5, 9])
    }

    /// Leaves a transaction of which nobody knows whether the leader has it, which takes no other one.
    private func leaveInDoubt(_ number: Int64, _ scene: Scene) throws {
        let isOut = Mutex(false)
        scene.leader.setHook { event throws(StorageError) in
            if event == .committed {
                isOut.withLock { $0 = true }
                throw StorageError(.commitOutcomeUnknown, "a failure")
            }
            if event == .beginWrite, isOut.withLock({ $0 }) { throw StorageError(.inputOutput, "a failure") }
        }
        #expect { try Scene.write(number, scene.stack) } throws: { ($0 as? StorageError)?.code == .commitOutcomeUnknown }
    }

    // MARK: Followers that cannot catch up

    @Test(arguments: Pair.all, [true, false]) func aFollowerThatCannotCatchUpIsAddedAndRead(_ pair: Pair, _ isLast: Bool) throws {
        let scene = try Scene(pair), stack = scene.stack
        try scene.leavePending(2)
        for store in scene.stores { try stack.removeStorage(store) }
        scene.follower.setHook { event throws(StorageError) in if event == .beginWrite { throw StorageError(.diskFull, "a failure") } }
        for store in isLast ? [scene.leader, scene.follower] : [scene.follower, scene.leader] { try stack.addStorageAndWait(store) }
        #expect(try scene.numbers(scene.leaders) == [1, 2])
        #expect(try scene.numbers(scene.followers) == [1])
        #expect { try scene.add(7, to: scene.followers) } throws: { ($0 as? StorageError)?.code == .diskFull }
        try scene.add(3, to: scene.leaders)
        scene.follower.setHook(nil)
        try scene.add(4, to: scene.followers)
        #expect(try scene.numbers(scene.leaders) == [1, 2, 3])
        #expect(try scene.numbers(scene.followers) == [1, 2, 4])
    }

    // MARK: Those who read

    /// Readers have all connections to the servers that they may have.
    @Test(.enabled(if: TestStore.server != nil), arguments: [TestStore.sqlite, .lmdb, .postgresql])
    func writersOfSeveralStoresNeedNoConnectionsOfReaders(_ kind: TestStore) throws {
        func server(_ configuration: String) -> PostgreSQLStore {
            PostgreSQLStore(
                conninfo: TestStore.server ?? "", configuration: configuration,
                schema: "polystore_\(UUID().uuidString.lowercased())", readers: 1)
        }
        let stack = try DataStack(schema: Scene.schema.get())
        let stores: [any StorageInterface] = [server("Left"), kind == .postgresql ? server("Right") : kind.make(configuration: "Right")]
        defer { for store in stores { try? store.erase() } }
        for store in stores { try stack.addStorageAndWait(store) }
        try Scene.write(1, stack)
        let started = DispatchGroup(), ended = DispatchGroup(), isOver = DispatchSemaphore(value: 0)
        for entity in ["Left", "Right"] {
            started.enter()
            ended.enter()
            Thread.detachNewThread {
                try? stack.read(synchronous: { transaction in
                    _ = try transaction.fetchCount(From<DynamicObject>(entity: entity))
                    started.leave()
                    _ = isOver.wait(timeout: .now() + 60)
                })
                ended.leave()
            }
        }
        #expect(started.wait(timeout: .now() + 20) == .success)
        try stack.perform(timeout: .seconds(10), synchronous: { try Scene.write(2, $0) })
        try stack.perform(timeout: .seconds(10), synchronous: { try Self.add(3, $0, ["Right"]) })
        for _ in 0..<2 { isOver.signal() }
        ended.wait()
        #expect(try stack.fetchCount(From<DynamicObject>(entity: "Right")) == 3)
    }

    /// Somebody who reads both stores has a session of the one and waits for a session of the other. That holds up nobody, until a commit has
    /// come in between: first of those that the closure opens one by one, then of both.
    @Test(arguments: JointFailureTests.files) func aCommitWaitsForReadersNoLongerThanItsTimeout(_ pair: Pair) throws {
        let stack = try DataStack(schema: Scene.schema.get()), held = HeldStore(pair.left.make(configuration: "Left"))
        let stores: [any StorageInterface] = [held, pair.right.make(configuration: "Right")]
        defer { for store in stores { try? store.erase() } }
        for store in stores { try stack.addStorageAndWait(store) }
        try Scene.write(1, stack)
        let ended = DispatchGroup(), seen = Mutex<[Int]>([])
        ended.enter()
        held.hold()
        Thread.detachNewThread {
            try? stack.read(synchronous: { transaction in
                let numbers = try ["Right", "Left"].map { try transaction.fetchCount(From<DynamicObject>(entity: $0)) }
                seen.withLock { $0 = numbers }
            })
            ended.leave()
        }
        #expect(held.waits())
        for number in Int64(2)...3 {
            try stack.perform(timeout: .seconds(20), synchronous: { try Scene.write(number, $0) })
            held.letOnePass()
            #expect(held.waits())
        }
        let start = ContinuousClock.now
        #expect { try stack.perform(timeout: .seconds(1), synchronous: { try Scene.write(4, $0) }) } throws: {
            ($0 as? StorageError)?.code == .timeout
        }
        #expect(ContinuousClock.now - start < .seconds(10))
        held.letGo()
        ended.wait()
        #expect(seen.withLock { $0 } == [3, 3])
        try Scene.write(5, stack)
        for entity in ["Left", "Right"] { #expect(try stack.fetchCount(From<DynamicObject>(entity: entity)) == 4) }
    }

    /// A store whose readers wait until they may begin, other than those that a write transaction waits for.
    private final class HeldStore: ForwardingStore {
        static let storeType = "held"
        let base: any StorageInterface
        private let isHeld = Mutex(false), arrived = DispatchSemaphore(value: 0), free = DispatchSemaphore(value: 0)

        init(_ base: any StorageInterface) { self.base = base }

        func hold() { isHeld.withLock { $0 = true } }

        /// Whether somebody comes who has to wait.
        func waits() -> Bool { arrived.wait(timeout: .now() + 20) == .success }

        func letOnePass() { free.signal() }

        func letGo() {
            isHeld.withLock { $0 = false }
            free.signal()
        }

        func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader {
            if !options.isForWriter, isHeld.withLock({ $0 }) {
                arrived.signal()
                _ = free.wait(timeout: .now() + 60)
            }
            return try base.beginRead(options)
        }
    }
}
