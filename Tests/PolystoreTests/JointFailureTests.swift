import Foundation
import Polystore
import PolystoreStorage
import RawSessions
import Synchronization
import TestStores
import Testing

/// Commits over two stores that meet failures, cancellations, backups and notes of earlier versions: both stores have a transaction, or none
/// has, and what differs is said.
@Suite struct JointFailureTests {
    typealias Pair = SeveralStoresTests.Pair

    /// Two stores in a stack, each with a half; the leader commits first.
    final class Scene: Sendable {
        static let schema = Result {
            try Schema(
                entities: ["Left", "Right", "Third"].map { name in
                    Entity(
                        name, attributes: [Attribute("x", .int64), Attribute("name", .string, isOptional: true)],
                        uniqueConstraints: [UniqueConstraint(["name"])])
                },
                configurations: ["Left": ["Left"], "Right": ["Right"], "Third": ["Third"]])
        }

        let stack: DataStack
        let stores: [HookedStore]
        private let leading: Int

        init(_ pair: Pair, through wrapping: (any StorageInterface) -> any StorageInterface = { $0 }) throws {
            stores = [(pair.left, "Left"), (pair.right, "Right")].map { kind, name in
                HookedStore(wrapping(kind.make(configuration: name)))
            }
            stack = try DataStack(schema: Self.schema.get())
            for store in stores { try stack.addStorageAndWait(store) }
            try Self.write(1, stack)
            let follower = try stores.firstIndex { store in
                let reader = try OpenStore(opened: store).beginRead()
                defer { reader.end() }
                return try !Peers(reader).known().isEmpty
            }
            leading = 1 - (follower ?? 1)
        }

        deinit { for store in stores { try? store.erase() } }

        var leader: HookedStore { stores[leading] }
        var follower: HookedStore { stores[1 - leading] }
        var leaders: String { ["Left", "Right"][leading] }
        var followers: String { ["Left", "Right"][1 - leading] }

        static func write(_ number: Int64, _ stack: DataStack, author: TransactionAuthor = .none) throws {
            try stack.perform(author: author, synchronous: { try write(number, $0) })
        }

        static func write(_ number: Int64, _ transaction: WriteTransaction) throws {
            for entity in ["Left", "Right"] { try transaction.create(Into<DynamicObject>(entity: entity)).setValue(.int(number), for: "x") }
        }

        func add(_ number: Int64, to entity: String, author: TransactionAuthor = .none) throws {
            try stack.perform(
                author: author,
                synchronous: { try $0.create(Into<DynamicObject>(entity: entity)).setValue(.int(number), for: "x") })
        }

        func numbers(_ entity: String, _ stack: DataStack? = nil) throws -> [Int64] {
            try (stack ?? self.stack).fetchAll(From<DynamicObject>(entity: entity).orderBy(.ascending("x"))).map { object in
                if case .int(let number) = try object.value("x") { number } else { -1 }
            }
        }

        /// Leaves a transaction in the leader that the follower has not taken over.
        func leavePending(_ number: Int64) throws {
            follower.setHook { event throws(StorageError) in if event == .commit { throw StorageError(.inputOutput, "a failure") } }
            let error = #expect(throws: StorageError.self) { try Self.write(number, stack) }
            #expect(error?.code == .commitPending)
            follower.setHook(nil)
        }
    }

    // MARK: Notes of earlier versions

    @Test(arguments: Pair.all) func pendingChangesInTheFirstFormatAreApplied(_ pair: Pair) throws {
        let scene = try Scene(pair)
        try scene.leavePending(2)
        try writeFormerNotes(scene)
        for store in scene.stores { try scene.stack.removeStorage(store) }
        let stack = try DataStack(schema: Scene.schema.get())
        // Alone it cannot know.
        try stack.addStorageAndWait(scene.follower)
        let alone = #expect(throws: StorageError.self) {
            try stack.perform(synchronous: { _ = try $0.create(Into<DynamicObject>(entity: scene.followers)) })
        }
        #expect(alone?.code == .peerUnavailable)
        try stack.addStorageAndWait(scene.leader)
        for number in 3...4 { try Scene.write(Int64(number), stack) }
        for entity in ["Left", "Right"] { #expect(try scene.numbers(entity, stack) == [1, 2, 3, 4]) }
    }

    /// Turns the notes of two stores into those of the first format: leaders by identity alone, a number for each, and what is kept without a
    /// note beside it.
    private func writeFormerNotes(_ scene: Scene) throws {
        let leader = OpenStore(opened: scene.leader), follower = OpenStore(opened: scene.follower)
        let leaderID = try scene.stack.fetchIDs(From<DynamicObject>(entity: scene.leaders)).first?.key.store.uuidString ?? ""
        let followerID = try scene.stack.fetchIDs(From<DynamicObject>(entity: scene.followers)).first?.key.store.uuidString ?? ""
        var writer = try follower.beginWrite()
        try writer.setNote("peers", Data("\(leaderID),\(UUID().uuidString)".utf8.prefix(36)))
        try writer.setNote("applied.\(leaderID)", Data("1".utf8))
        _ = try writer.commit(CommitRecord())
        writer = try leader.beginWrite()
        var kept = try #require(try writer.note("redo.\(followerID)"))
        // Of rows that are added the two formats differ in this byte alone.
        kept[kept.startIndex] = 1
        try writer.setNote("redo.\(followerID)", kept)
        for name in ["lead.\(followerID)", "followers"] { try writer.setNote(name, nil) }
        _ = try writer.commit(CommitRecord())
    }

    @Test(arguments: Pair.all, [true, false]) func damagedNotesCanBeForgotten(_ pair: Pair, _ isFollower: Bool) throws {
        let scene = try Scene(pair)
        try Scene.write(2, scene.stack)
        let followerID = try #require(try scene.stack.fetchIDs(From<DynamicObject>(entity: scene.followers)).first).key.store
        let writer = try OpenStore(opened: isFollower ? scene.follower : scene.leader).beginWrite()
        try writer.setNote(isFollower ? "peers" : "lead.\(followerID.uuidString)", Data("no peer".utf8))
        _ = try writer.commit(CommitRecord())
        let refused = #expect(throws: StorageError.self) { try scene.add(3, to: scene.followers) }
        #expect(refused?.code == .corrupted)
        // That of the leader is forgotten with the follower too.
        if isFollower { try scene.stack.forgetPeers(of: scene.leader) }
        try scene.stack.forgetPeers(of: scene.follower)
        try scene.add(3, to: scene.followers)
        try scene.add(3, to: scene.leaders)
        try Scene.write(4, scene.stack)
        for entity in ["Left", "Right"] { #expect(try scene.numbers(entity) == [1, 2, 3, 4]) }
    }

    // MARK: Commits that fail

    /// The leaders that are files: a server in doubt decides by itself.
    static let files = Pair.all.filter { $0.left != .postgresql && $0.right != .postgresql }

    @Test(arguments: files, [HookedStore.Event.commit, .committed])
    func aLeaderInDoubtIsDecidedBeforeItsFollowerIsFree(_ pair: Pair, _ moment: HookedStore.Event) throws {
        let scene = try Scene(pair)
        scene.leader.failOnce(.commitOutcomeUnknown, at: moment)
        if moment == .commit {
            let error = #expect(throws: StorageError.self) { try Scene.write(2, scene.stack) }
            #expect(error?.code == .inputOutput)
        } else {
            try Scene.write(2, scene.stack)
        }
        scene.leader.setHook(nil)
        for entity in ["Left", "Right"] { #expect(try scene.numbers(entity) == (moment == .commit ? [1] : [1, 2])) }
        try Scene.write(3, scene.stack)
        for entity in ["Left", "Right"] { #expect(try scene.numbers(entity) == (moment == .commit ? [1, 3] : [1, 2, 3])) }
    }

    @Test(arguments: files) func aFollowerIsNotWrittenWhileItsLeaderIsInDoubt(_ pair: Pair) throws {
        let scene = try Scene(pair), isOut = Mutex(false)
        // After the commit the store does not answer any more.
        let hook: HookedStore.Hook = { event throws(StorageError) in
            if event == .committed {
                isOut.withLock { $0 = true }
                throw StorageError(.commitOutcomeUnknown, "a failure")
            }
            if event == .beginWrite, isOut.withLock({ $0 }) { throw StorageError(.inputOutput, "a failure") }
        }
        scene.leader.setHook(hook)
        let error = #expect(throws: StorageError.self) { try Scene.write(2, scene.stack) }
        #expect(error?.code == .commitOutcomeUnknown)
        let refused = #expect(throws: StorageError.self) { try scene.add(7, to: scene.followers) }
        #expect(refused?.code == .peerUnavailable)
        scene.leader.setHook(nil)
        try scene.add(7, to: scene.followers)
        #expect(try scene.numbers(scene.leaders) == [1, 2])
        #expect(try scene.numbers(scene.followers) == [1, 2, 7])
    }

    @Test func theErrorForAMemoryStoreThatLacksItsPartDoesNotPromiseRecovery() throws {
        let scene = try Scene(Pair(left: .sqlite, right: .memory)), memory = scene.stores[1]
        memory.failOnce(.inputOutput)
        let error = #expect(throws: StorageError.self) { try Scene.write(2, scene.stack) }
        #expect(error?.code == .commitIncomplete && error?.isRetryable == false)
        #expect(try scene.numbers("Left") == [1, 2] && scene.numbers("Right") == [1])
        try Scene.write(3, scene.stack)
        #expect(try scene.numbers("Right") == [1, 3])
    }

    @Test(arguments: Pair.all) func pendingChangesThatAFailedTransactionDidNotDropAreDroppedByTheNext(_ pair: Pair) throws {
        let scene = try Scene(pair)
        let followerID = try #require(scene.stack.fetchIDs(From<DynamicObject>(entity: scene.followers)).first).key.store
        func isKept() throws -> Bool {
            let reader = try scene.leader.beginRead()
            defer { reader.end() }
            return try reader.note("redo.\(followerID.uuidString)") != nil
        }
        #expect(try isKept())
        scene.leader.failOnce(.inputOutput)
        #expect(throws: StorageError.self) { try scene.add(5, to: scene.leaders) }
        #expect(try isKept())
        try scene.add(6, to: scene.leaders)
        #expect(try !isKept())
    }

    @Test(arguments: Pair.all) func appliedChangesAreNotReadForEachWriteOfTheFollower(_ pair: Pair) throws {
        let scene = try Scene(pair, through: CountedNotes.init)
        let counted = try #require(scene.leader.base as? CountedNotes)
        try scene.stack.perform(synchronous: { transaction in
            for number in 2...1_000 { try Scene.write(Int64(number), transaction) }
        })
        let followerID = try #require(scene.stack.fetchIDs(From<DynamicObject>(entity: scene.followers)).first).key.store
        let reader = try scene.leader.beginRead()
        let kept = try reader.note("redo.\(followerID.uuidString)")?.count ?? 0
        reader.end()
        #expect(kept > 2_000)
        let before = counted.bytes
        for number in 1_001...1_010 { try scene.add(Int64(number), to: scene.followers) }
        // It is asked for a number, which is all that has to be compared.
        #expect(counted.bytes - before > 0 && counted.bytes - before < 10 * 200)
    }

    @Test(arguments: Pair.all) func changesThatWereRolledBackAreNotApplied(_ pair: Pair) throws {
        let scene = try Scene(pair)
        scene.follower.failOnce(.inputOutput)
        try scene.stack.perform(synchronous: { transaction in
            try Scene.write(2, transaction)
            try? transaction.nested {
                try Scene.write(7, transaction)
                #expect(try transaction.fetchCount(From<DynamicObject>(entity: scene.followers)) == 3)
                throw CancellationError()
            }
            try Scene.write(3, transaction)
        })
        scene.follower.setHook(nil)
        try Scene.write(4, scene.stack)
        for entity in ["Left", "Right"] { #expect(try scene.numbers(entity) == [1, 2, 3, 4]) }
    }

    @Test(arguments: Pair.all) func whatIsRefusedInATransactionIsNotTakenOver(_ pair: Pair) throws {
        let scene = try Scene(pair), all = From<DynamicObject>(entity: scene.followers)
        scene.follower.failOnce(.inputOutput)
        try scene.stack.perform(synchronous: { transaction in
            try Scene.write(2, transaction)
            let objects = try [Int64(3), 4].map { number in
                let object = try transaction.create(Into<DynamicObject>(entity: scene.followers))
                try object.setValue(.int(number), for: "x")
                try object.setValue(.string("taken"), for: "name")
                return object
            }
            let refused = #expect(throws: StorageError.self) { try transaction.fetchCount(all) }
            #expect(refused?.code == .uniqueConstraintViolated)
            try objects[1].setValue(.string("free"), for: "name")
            #expect(try transaction.fetchCount(all) == 4)
        })
        scene.follower.setHook(nil)
        try Scene.write(5, scene.stack)
        #expect(try scene.numbers(scene.followers) == [1, 2, 3, 4, 5])
        #expect(try scene.numbers(scene.leaders) == [1, 2, 5])
    }

    @Test(arguments: Pair.all) func eachStoreIsOnTheDiskBeforeTheOtherReliesOnIt(_ pair: Pair) throws {
        let scene = try Scene(pair), said = Mutex<[String]>([])
        for (name, store) in [("leader", scene.leader), ("follower", scene.follower)] {
            store.setHook { event throws(StorageError) in
                if event == .committed || event == .synchronize { said.withLock { $0.append("\(name) \(event)") } }
            }
        }
        try Scene.write(2, scene.stack)
        #expect(said.withLock { $0 } == ["leader committed", "leader synchronize", "follower committed", "follower synchronize"])
        try scene.leavePending(3)
        said.withLock { $0.removeAll() }
        scene.follower.setHook { event throws(StorageError) in said.withLock { $0.append("\(event)") } }
        try scene.add(4, to: scene.followers)
        #expect(said.withLock { $0 }.prefix(5) == ["beginWrite", "apply", "commit", "committed", "synchronize"])
    }

    // MARK: Cancellation

    @Test(arguments: Pair.all + [Pair(left: .sqlite, right: .memory), Pair(left: .lmdb, right: .memory)])
    func aTaskThatIsCancelledInTheMidstOfACommitLeavesAllOrNothing(_ pair: Pair) async throws {
        let scene = try Scene(pair), count = try events(of: scene)
        #expect(count >= 8)
        var number: Int64 = 10, cancelled = 0
        for moment in 0..<count {
            number += 1
            let isThere = try await write(number, cancelledAt: moment, scene)
            if !isThere { cancelled += 1 }
            for entity in ["Left", "Right"] {
                #expect(try scene.numbers(entity).contains(number) == isThere, "event \(moment) of \(count)")
            }
        }
        // Before the first commit it is undone, afterwards it is there.
        #expect(cancelled > 0 && cancelled < count)
        try Scene.write(3, scene.stack)
        #expect(try scene.numbers("Left") == scene.numbers("Right"))
    }

    /// How much happens in a commit of a scene.
    private func events(of scene: Scene) throws -> Int {
        let count = Atomic(0)
        for store in scene.stores { store.setHook { _ throws(StorageError) in count.add(1, ordering: .relaxed) } }
        try Scene.write(2, scene.stack)
        return count.load(ordering: .relaxed)
    }

    /// Commits, and cancels the task in the midst of it.
    ///
    /// - Returns: Whether it says that it is committed.
    private func write(_ number: Int64, cancelledAt moment: Int, _ scene: Scene) async throws -> Bool {
        let seen = Atomic(0), decided = Atomic(false), begun = Atomic(0), isSet = DispatchSemaphore(value: 0)
        let task = Mutex<Task<Void, any Error>?>(nil)
        for store in scene.stores {
            let isFollower = store === scene.follower
            store.setHook { event throws(StorageError) in
                if !isFollower, event == .committed { decided.store(true, ordering: .relaxed) }
                if isFollower, event == .beginWrite, decided.load(ordering: .relaxed) { begun.add(1, ordering: .relaxed) }
                if seen.add(1, ordering: .relaxed).oldValue != moment { return }
                isSet.wait()
                task.withLock { $0?.cancel() }
            }
        }
        let running = Task { try await scene.stack.perform { try Scene.write(number, $0) } }
        task.withLock { $0 = running }
        isSet.signal()
        do {
            try await running.value
            // The follower commits its part itself and does not take it over from the leader afterwards.
            #expect(begun.load(ordering: .relaxed) == 0, "event \(moment)")
            return true
        } catch {
            #expect((error as? StorageError)?.code == .cancelled, "\(error)")
            return false
        }
    }

    // MARK: Observers

    @Test(arguments: Pair.all) func pendingChangesThatAreAppliedLaterAreDeliveredOnce(_ pair: Pair) async throws {
        let scene = try Scene(pair), commits = try scene.stack.commits(.gap(after: 1_000))
        // Once by the transaction itself, once by the next one.
        scene.follower.failOnce(.inputOutput)
        try Scene.write(2, scene.stack, author: "first")
        try scene.leavePending(3)
        try scene.add(4, to: scene.followers)
        try scene.add(5, to: scene.followers, author: "last")
        var told: [Int64: Int] = [:], iterator = commits.makeAsyncIterator()
        while let commit = await iterator.next() {
            let numbers = try commit.changes.insertedObjectIDs(DynamicObject.self).compactMap { id -> Int64? in
                if let object = try scene.stack.fetchExisting(id), case .int(let number) = try object.value("x") { number } else { nil }
            }
            // A server may still withhold the first transaction from the history when the feed begins, and delivers it then.
            if commit.isRemote, numbers == [1] { continue }
            #expect(commit.unknownStores.isEmpty && !commit.isRemote)
            for number in numbers { told[number, default: 0] += 1 }
            if commit.authors == ["last"] { break }
        }
        #expect(told == [2: 2, 3: 2, 4: 1, 5: 1])
    }

    // MARK: Forgetting, and backups

    @Test(arguments: Pair.all) func pendingChangesAreAppliedBeforeALeaderForgets(_ pair: Pair) throws {
        let scene = try Scene(pair)
        try scene.leavePending(2)
        #expect(try scene.stack.forgetPeers(of: scene.leader).allSatisfy { $0.kind == .none })
        try Scene.write(3, scene.stack)
        for entity in ["Left", "Right"] { #expect(try scene.numbers(entity) == [1, 2, 3]) }
    }

    @Test(arguments: Pair.all) func aFollowerThatWasRemovedWhenItsLeaderForgotReportsMissingTransactions(_ pair: Pair) throws {
        let scene = try Scene(pair)
        try scene.leavePending(2)
        try scene.stack.removeStorage(scene.follower)
        let differences = try scene.stack.forgetPeers(of: scene.leader)
        #expect(differences.map(\.kind) == [.exceeds(1)])
        #expect(differences.first?.keys.keys.sorted() == [scene.followers])
        try scene.stack.addStorageAndWait(scene.follower)
        let error = #expect(throws: StorageError.self) { try scene.add(7, to: scene.followers) }
        #expect(error?.code == .peerDiverged)
        #expect(try scene.stack.forgetPeers(of: scene.follower).map(\.kind) == [.lacks(1)])
        try Scene.write(3, scene.stack)
        #expect(try scene.numbers(scene.leaders) == [1, 2, 3])
        #expect(try scene.numbers(scene.followers) == [1, 3])
    }

    /// Files as they are: a store is put back by copying its file.
    @Test(arguments: [TestStore.sqlite, .lmdb]) func aBackupFromBeforeThePairingIsDetected(_ kind: TestStore) throws {
        let names = ["Left", "Right"].map { "polystore_before_\($0)_\(UUID().uuidString.lowercased())" }
        func path(_ index: Int) -> String {
            FileManager.default.temporaryDirectory.appendingPathComponent(names[index]).path + (kind == .sqlite ? ".db" : ".lmdb")
        }
        func make(_ index: Int) -> any StorageInterface { kind.make(named: names[index], configuration: ["Left", "Right"][index]) }
        defer {
            for index in 0...1 {
                try? make(index).erase()
                try? FileManager.default.removeItem(atPath: path(index) + ".backup")
            }
        }
        func withStack(_ indices: [Int] = [0, 1], _ body: (DataStack, [any StorageInterface]) throws -> Void) throws {
            let stack = try DataStack(schema: Scene.schema.get()), stores = indices.map(make)
            for store in stores { try stack.addStorageAndWait(store) }
            try body(stack, stores)
            for store in stores { try stack.removeStorage(store) }
        }
        func add(_ number: Int64, _ index: Int, _ stack: DataStack) throws {
            try stack.perform(synchronous: {
                try $0.create(Into<DynamicObject>(entity: ["Left", "Right"][index])).setValue(.int(number), for: "x")
            })
        }
        var follower = 0
        try withStack { stack, _ in for index in 0...1 { try add(1, index, stack) } }
        for index in 0...1 { try FileManager.default.copyItem(atPath: path(index), toPath: path(index) + ".backup") }
        try withStack { stack, stores in
            for number in 2...3 { try Scene.write(Int64(number), stack) }
            follower = try #require(
                try stores.firstIndex { store in
                    let reader = try OpenStore(opened: store).beginRead()
                    defer { reader.end() }
                    return try !Peers(reader).known().isEmpty
                })
        }
        try FileManager.default.removeItem(atPath: path(follower))
        try FileManager.default.copyItem(atPath: path(follower) + ".backup", toPath: path(follower))
        // It can be added and read; it is not written to, alone or together, until it has forgotten.
        try withStack { stack, stores in
            for work in [{ try add(8, follower, stack) }, { try Scene.write(8, stack) }] {
                let error = #expect(throws: StorageError.self) { try work() }
                #expect(error?.code == .peerDiverged)
            }
            #expect(try stack.forgetPeers(of: stores[follower]).map(\.kind) == [.lacks(2)])
            try Scene.write(9, stack)
        }
        // What it has forgotten it does not find again.
        try withStack { stack, stores in
            try stack.forgetPeers(of: stores[follower])
            try add(10, follower, stack)
        }
        try withStack { stack, _ in try Scene.write(11, stack) }
    }

    // MARK: Two servers

    /// Neither server sees the cycle: one of the two gives up after its wait, and runs again.
    @Test(.enabled(if: TestStore.server != nil)) func twoServersWhoseRowsAreLockedCrosswiseEnd() throws {
        let scene = try Scene(Pair(left: .postgresql, right: .postgresql)), stack = scene.stack
        let arrived = DispatchGroup(), done = DispatchGroup(), errors = Mutex<[String]>([])
        for _ in 0..<2 { arrived.enter() }
        for order in [["Left", "Right"], ["Right", "Left"]] {
            done.enter()
            Thread.detachNewThread {
                defer { done.leave() }
                var isFirst = true
                do {
                    try stack.perform(
                        timeout: .seconds(100),
                        synchronous: { transaction in
                            for (index, entity) in order.enumerated() {
                                let object = try #require(try transaction.fetchOne(From<DynamicObject>(entity: entity)))
                                guard case .int(let number) = try object.value("x") else { return }
                                try object.setValue(.int(number + 1), for: "x")
                                // The fetch brings the change to the server, which locks the row.
                                _ = try transaction.fetchCount(From<DynamicObject>(entity: entity))
                                if index == 0, isFirst, transaction.attempt == 1 {
                                    isFirst = false
                                    arrived.leave()
                                    _ = arrived.wait(timeout: .now() + 10)
                                }
                            }
                        })
                } catch {
                    errors.withLock { $0.append("\((error as? StorageError)?.code.description ?? "\(error)")") }
                }
            }
        }
        #expect(done.wait(timeout: .now() + 150) == .success)
        #expect(errors.withLock { $0 } == [])
        for entity in ["Left", "Right"] { #expect(try scene.numbers(entity) == [3]) }
    }
}

/// A store that counts the bytes of the notes that its reading sessions are asked for.
private final class CountedNotes: ForwardingStore {
    static let storeType = "counted"
    let base: any StorageInterface
    private let count = Mutex(0)

    init(_ base: any StorageInterface) { self.base = base }

    var bytes: Int { count.withLock { $0 } }

    func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader { Reader(try base.beginRead(options), self) }

    private final class Reader: ForwardingReader {
        let reader: any StorageReader
        private let store: CountedNotes

        init(_ reader: any StorageReader, _ store: CountedNotes) {
            self.reader = reader
            self.store = store
        }

        func note(_ name: String) throws(StorageError) -> Data? {
            let note = try reader.note(name)
            store.count.withLock { $0 += note?.count ?? 0 }
            return note
        }
    }
}
