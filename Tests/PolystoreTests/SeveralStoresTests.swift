import Foundation
import Polystore
import PolystoreInMemory
import PolystoreLMDB
import PolystorePostgreSQL
import PolystoreSQLite
import PolystoreStorage
import RawSessions
import Synchronization
import TestStores
import Testing

/// One transaction over two stores: both have it, or after an interruption both will.
@Suite struct SeveralStoresTests {
    /// The stores that keep the left and the right half.
    struct Pair: Sendable, CustomTestStringConvertible {
        let left: TestStore
        let right: TestStore
        var testDescription: String { "\(left) and \(right)" }

        /// All pairs of stores that survive a crash, without two servers.
        static let all: [Pair] = TestStore.all.filter { $0 != .memory }.flatMap { left in
            TestStore.all.filter { $0 != .memory && !($0 == .postgresql && left == .postgresql) }.map { Pair(left: left, right: $0) }
        }
    }

    private static let schema = Result {
        try Schema(
            entities: [
                Entity("Left", attributes: [Attribute("x", .int64), Attribute("text", .string, isOptional: true)]),
                Entity(
                    "Right", attributes: [Attribute("x", .int64), Attribute("price", .decimal, isOptional: true)],
                    relationships: [Relationship("others", to: "Right", .toMany)]),
            ], configurations: ["Left": ["Left"], "Right": ["Right"]])
    }

    private func open(_ pair: Pair, _ body: (DataStack, InterruptedStore, InterruptedStore) throws -> Void) throws {
        let left = InterruptedStore(pair.left.make(configuration: "Left")),
            right = InterruptedStore(pair.right.make(configuration: "Right"))
        let stack = try DataStack(schema: try Self.schema.get())
        try stack.addStorageAndWait(left)
        try stack.addStorageAndWait(right)
        defer {
            try? left.erase()
            try? right.erase()
        }
        try body(stack, left, right)
    }

    private func write(_ number: Int64, _ stack: DataStack) throws {
        try stack.perform(synchronous: { transaction in
            let left = try transaction.create(Into<DynamicObject>(entity: "Left"))
            try left.setValue(.int(number), for: "x")
            // A fetch in the middle brings what was done so far to the stores.
            _ = try transaction.fetchCount(From<DynamicObject>(entity: "Left"))
            try left.setValue(.string("text \(number)"), for: "text")
            let right = try transaction.create(Into<DynamicObject>(entity: "Right"))
            try right.setValue(.int(number), for: "x")
            try right.setValue(.decimal(Decimal(number) / 4), for: "price")
            if number > 1, let before = try transaction.fetchOne(From<DynamicObject>(entity: "Right").orderBy(.descending("x")).offset(1)) {
                try before.setValue(.decimal(-1), for: "price")
            }
        })
    }

    private func numbers(_ stack: DataStack, _ entity: String) throws -> [Value] {
        try stack.fetchAll(From<DynamicObject>(entity: entity).orderBy(.ascending("x"))).map { try $0.value("x") }
    }

    /// A store of LMDB cannot be opened again while the read still uses it.
    @Test(arguments: Pair.all.filter { $0.left != .lmdb })
    func aReadEndsWhereAStoreThatItHasReadWasRemovedAndAddedAgain(_ pair: Pair) throws {
        try open(pair) { stack, left, _ in
            try write(1, stack)
            let isDone = DispatchSemaphore(value: 0), failure = Mutex<(any Error)?>(nil), counts = Mutex<[Int]>([])
            func read(_ transaction: ReadTransaction) throws {
                let lefts = try transaction.fetchCount(From<DynamicObject>(entity: "Left"))
                counts.withLock { $0.append(lefts) }
                Thread {
                    do {
                        try stack.removeStorage(left)
                        try stack.addStorageAndWait(left)
                        try write(2, stack)
                    } catch { failure.withLock { $0 = error } }
                    isDone.signal()
                }.start()
                isDone.wait()
                let rights = try transaction.fetchCount(From<DynamicObject>(entity: "Right"))
                counts.withLock { $0.append(rights) }
            }
            let error = #expect(throws: StorageError.self) { try stack.read(synchronous: read) }
            #expect(error?.code == .storeClosed)
            #expect(failure.withLock { $0 } == nil)
            #expect(counts.withLock { $0 } == [1])
        }
    }

    /// The transaction has a session in the store that would be waited for. A store of LMDB cannot be opened again before its end.
    @Test(arguments: TestStore.all.filter { $0 != .lmdb })
    func aTransactionEndsWhereItsStoreWasRemovedAndAddedAgain(_ store: TestStore) throws {
        let stack = try store.stack(), storage = try #require(stack.storages.first)
        let isDone = DispatchSemaphore(value: 0), failure = Mutex<(any Error)?>(nil)
        let error = #expect(throws: StorageError.self) {
            try stack.perform(synchronous: { transaction in
                _ = try transaction.fetchCount(From<Person>())
                Thread {
                    do {
                        try stack.removeStorage(storage)
                        try stack.addStorageAndWait(storage)
                    } catch { failure.withLock { $0 = error } }
                    isDone.signal()
                }.start()
                isDone.wait()
                _ = try transaction.create(Person.self)
            })
        }
        #expect(error?.code == .storeClosed)
        #expect(failure.withLock { $0 } == nil)
    }

    @Test(arguments: TestStore.all) func aCommitThatHasBegunEndsBeforeItsStoreIsClosed(_ store: TestStore) throws {
        let hooked = HookedStore(store.make()), stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(hooked)
        let isDone = DispatchSemaphore(value: 0), failure = Mutex<(any Error)?>(nil), isFirst = Atomic(true)
        hooked.setHook { event in
            if event != .commit || !isFirst.exchange(false, ordering: .relaxed) { return }
            Thread {
                do { try stack.removeStorage(hooked) } catch { failure.withLock { $0 = error } }
                isDone.signal()
            }.start()
            while !stack.storages.isEmpty { Thread.sleep(forTimeInterval: 0.001) }
            // The removal would close the store now.
            Thread.sleep(forTimeInterval: 0.1)
        }
        // The hook refers to the store that has it.
        defer { hooked.setHook(nil) }
        try stack.perform(synchronous: { _ = try $0.create(Person.self) })
        isDone.wait()
        #expect(failure.withLock { $0 } == nil)
        #expect(throws: StorageError.self) { try hooked.base.beginRead(ReadOptions()).end() }
    }

    @Test(arguments: Pair.all) func theFollowerAppliesMissingChangesBeforeItsNextWrite(_ pair: Pair) throws {
        try open(pair) { stack, left, right in
            try write(1, stack)
            try second(pair, left, right).isArmed = true
            // The transaction itself makes the second catch up; nobody sees that it was interrupted.
            try write(2, stack)
            #expect(try numbers(stack, "Left") == [.int(1), .int(2)])
            #expect(try numbers(stack, "Right") == [.int(1), .int(2)])
            let rights = try stack.fetchAll(From<DynamicObject>(entity: "Right").orderBy(.ascending("x")))
            #expect(try rights.map { try $0.value("price") } == [.decimal(-1), .decimal(0.5)])
            #expect(
                try stack.fetchAll(From<DynamicObject>(entity: "Left").orderBy(.ascending("x"))).map { try $0.value("text") }
                    == [.string("text 1"), .string("text 2")])
            // Keys that were given in the interrupted commit are not given again.
            try write(3, stack)
            #expect(Set(try stack.fetchIDs(From<DynamicObject>(entity: "Right")).map(\.key.key)).count == 3)
        }
    }

    @Test(arguments: Pair.all) func theFollowerAppliesMissingChangesBeforeItsMigration(_ pair: Pair) async throws {
        let left = InterruptedStore(pair.left.make(configuration: "Left")),
            right = InterruptedStore(pair.right.make(configuration: "Right"))
        defer {
            try? left.erase()
            try? right.erase()
        }
        let old = try DataStack(schema: try Self.schema.get())
        try old.addStorageAndWait(left)
        try old.addStorageAndWait(right)
        try write(1, old)
        let second = try second(pair, left, right), first = second === left ? right : left
        second.isBroken = true
        let pending = #expect(throws: StorageError.self) { try write(2, old) }
        #expect(pending?.code == .commitPending && pending?.isRetryable == false)
        try old.removeStorage(left)
        try old.removeStorage(right)
        second.isBroken = false
        var entities = try Self.schema.get().entities
        for index in entities.indices { entities[index].attributes.append(Attribute("level", .int32, defaultValue: .int(3))) }
        let schema = try Schema(version: "2", entities: entities, configurations: Self.schema.get().configurations)
        let new = try DataStack(schema: schema)
        // What the first keeps has to be asked of it: alone the second is not changed.
        await #expect { try await new.addStorage(second) } throws: { ($0 as? StorageError)?.code == .peerUnavailable }
        for store in [first, second] { try await new.addStorage(store) }
        for entity in ["Left", "Right"] {
            #expect(try numbers(new, entity) == [.int(1), .int(2)])
            #expect(try new.fetchAll(From<DynamicObject>(entity: entity)).map { try $0.value("level") } == [.int(3), .int(3)])
        }
        try write(3, new)
        #expect(try numbers(new, "Left") == [.int(1), .int(2), .int(3)] && numbers(new, "Right") == numbers(new, "Left"))
        try new.removeStorage(left)
        try new.removeStorage(right)
    }

    @Test(arguments: Pair.all) func aFailedCommitOfTheLeaderLeavesNoChangesInBothStores(_ pair: Pair) throws {
        try open(pair) { stack, left, right in
            try write(1, stack)
            (try second(pair, left, right) === left ? right : left).isArmed = true
            let error = #expect(throws: StorageError.self) { try write(2, stack) }
            #expect(error?.code == .inputOutput)
            #expect(try numbers(stack, "Left") == [.int(1)])
            #expect(try numbers(stack, "Right") == [.int(1)])
            try write(3, stack)
            #expect(try numbers(stack, "Right") == [.int(1), .int(3)])
        }
    }

    private func add(_ number: Int64, to entity: String, _ stack: DataStack) throws {
        try stack.perform(synchronous: { transaction in
            try transaction.create(Into<DynamicObject>(entity: entity)).setValue(.int(number), for: "x")
        })
    }

    @Test func aStoreWithoutItsPeerIsNotWrittenToUntilItForgets() throws {
        try open(Pair(left: .sqlite, right: .lmdb)) { stack, left, right in
            try write(1, stack)
            let second = try second(Pair(left: .sqlite, right: .lmdb), left, right), first = second === left ? right : left
            let entity = second === left ? "Left" : "Right"
            try stack.removeStorage(first)
            let error = #expect(throws: StorageError.self) { try add(7, to: entity, stack) }
            #expect(error?.code == .peerUnavailable)
            #expect(try numbers(stack, entity) == [.int(1)])
            #expect(try stack.forgetPeers(of: second).map(\.kind) == [.unknown])
            try add(7, to: entity, stack)
            #expect(try numbers(stack, entity) == [.int(1), .int(7)])
        }
    }

    @Test(arguments: Pair.all) func forgottenTransactionsAreNeverApplied(_ pair: Pair) throws {
        try open(pair) { stack, left, right in
            try write(1, stack)
            let second = try second(pair, left, right), first = second === left ? right : left
            let entity = second === left ? "Left" : "Right"
            second.isBroken = true
            let pending = #expect(throws: StorageError.self) { try write(2, stack) }
            #expect(pending?.code == .commitPending)
            second.isBroken = false
            try stack.removeStorage(first)
            #expect(try stack.forgetPeers(of: second).map(\.kind) == [.unknown])
            try add(9, to: entity, stack)
            try stack.addStorageAndWait(first)
            #expect(try numbers(stack, entity) == [.int(1), .int(9)])
            try write(3, stack)
            #expect(try numbers(stack, entity) == [.int(1), .int(3), .int(9)])
        }
    }

    @Test(arguments: Pair.all) func forgottenDifferencesAreReported(_ pair: Pair) throws {
        try open(pair) { stack, left, right in
            try write(1, stack)
            let second = try second(pair, left, right), entity = second === left ? "Left" : "Right"
            second.isBroken = true
            #expect(throws: StorageError.self) { try write(2, stack) }
            second.isBroken = false
            let differences = try stack.forgetPeers(of: second)
            #expect(differences.map(\.kind) == [.lacks(1)])
            #expect(differences.first?.keys.keys.sorted() == [entity])
            #expect(try stack.forgetPeers(of: second).isEmpty)
            try write(3, stack)
            #expect(try numbers(stack, entity) == [.int(1), .int(3)])
        }
    }

    /// Files as they are: a store is put back by copying its file.
    @Test(arguments: [TestStore.sqlite, .lmdb]) func aRestoredFollowerIsNotOverwrittenAndCanForgetItsPeers(_ kind: TestStore) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("polystore-back-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func store(_ name: String) -> any StorageInterface {
            let path = folder.appendingPathComponent(name).path
            return kind == .sqlite ? SQLiteStore(path: path, configuration: name) : LMDBStore(path: path, configuration: name)
        }
        func copy(_ name: String, to other: String) throws {
            try? FileManager.default.removeItem(at: folder.appendingPathComponent(other))
            try FileManager.default.copyItem(at: folder.appendingPathComponent(name), to: folder.appendingPathComponent(other))
        }
        func withStack(_ body: (DataStack, [any StorageInterface]) throws -> Void) throws {
            let stack = try DataStack(schema: try Self.schema.get()), stores = ["Left", "Right"].map(store)
            for store in stores { try stack.addStorageAndWait(store) }
            try body(stack, stores)
            for store in stores { try stack.removeStorage(store) }
        }
        var second = 0
        try withStack { stack, stores in
            try write(1, stack)
            second = try followers(stores)
        }
        let name = ["Left", "Right"][second]
        try copy(name, to: "backup")
        try withStack { stack, _ in
            try write(2, stack)
            try write(3, stack)
        }
        try copy("backup", to: name)
        // It can be added and read; nothing is written to it by itself or by the program, until it has forgotten.
        try withStack { stack, stores in
            #expect(try numbers(stack, name) == [.int(1)])
            for _ in 0..<2 {
                let error = #expect(throws: StorageError.self) { try add(8, to: name, stack) }
                #expect(error?.code == .peerDiverged)
            }
            #expect(throws: StorageError.self) { try write(4, stack) }
            #expect(try stack.forgetPeers(of: stores[second]).map(\.kind) == [.lacks(2)])
            try write(5, stack)
            #expect(try numbers(stack, name) == [.int(1), .int(5)])
        }
    }

    /// The index of the store that follows: the one that knows a peer.
    private func followers(_ stores: [any StorageInterface]) throws -> Int {
        try #require(
            try stores.firstIndex { store in
                let reader = try OpenStore(opened: store).beginRead()
                defer { reader.end() }
                return try !Peers(reader).known().isEmpty
            })
    }

    private func second(_ pair: Pair, _ left: InterruptedStore, _ right: InterruptedStore) throws -> InterruptedStore {
        try [left, right][followers([left, right])]
    }

    @Test(arguments: Pair.all) func pendingChangesAreDroppedAfterTheFollowerAppliedThem(_ pair: Pair) throws {
        try open(pair) { stack, left, right in
            try write(1, stack)
            let second = try second(pair, left, right), first = second === left ? right : left
            let entity = first === left ? "Left" : "Right"
            func kept() throws -> Int {
                let reader = try first.beginRead(), other = try second.beginRead()
                defer {
                    reader.end()
                    other.end()
                }
                let storeID = try #require(stack.fetchIDs(From<DynamicObject>(entity: entity == "Left" ? "Right" : "Left")).first).key.store
                return try reader.note("redo.\(storeID.uuidString)")?.count ?? 0
            }
            #expect(try kept() > 0)
            try add(5, to: entity, stack)
            #expect(try kept() == 0)
            // Much is dropped at once.
            try stack.perform(synchronous: { transaction in
                for entity in ["Left", "Right"] {
                    for number in 0..<20_000 {
                        try transaction.create(Into<DynamicObject>(entity: entity)).setValue(.int(Int64(number)), for: "x")
                    }
                }
            })
            #expect(try kept() == 0)
        }
    }

    @Test func aDetachedTransactionWhoseSecondStoreIsLateIsCommitted() throws {
        let pair = Pair(left: .sqlite, right: .lmdb)
        try open(pair) { stack, left, right in
            try write(1, stack)
            let second = try second(pair, left, right)
            let transaction = stack.beginUnsafe()
            for entity in ["Left", "Right"] {
                try transaction.create(Into<DynamicObject>(entity: entity)).setValue(.int(2), for: "x")
            }
            second.isBroken = true
            let error = #expect(throws: StorageError.self) { try transaction.commit() }
            #expect(error?.code == .commitPending)
            second.isBroken = false
            #expect(!transaction.hasChanges)
            try transaction.commit()
            try write(3, stack)
            for entity in ["Left", "Right"] { #expect(try numbers(stack, entity) == [.int(1), .int(2), .int(3)]) }
        }
    }

    @Test(arguments: Pair.all) func aReadNeverSeesHalfOfACommit(_ pair: Pair) throws {
        try open(pair) { stack, _, _ in
            try write(1, stack)
            let isDone = Mutex(false)
            let writer = Thread {
                for number in 2..<40 { try? self.write(Int64(number), stack) }
                isDone.withLock { $0 = true }
            }
            writer.start()
            while !isDone.withLock({ $0 }) {
                try stack.read(synchronous: { reading in
                    let left = try reading.fetchCount(From<DynamicObject>(entity: "Left"))
                    Thread.sleep(forTimeInterval: 0.001)
                    #expect(try reading.fetchCount(From<DynamicObject>(entity: "Right")) == left)
                })
            }
            #expect(try numbers(stack, "Left").count == 39)
        }
    }

    @Test(.enabled(if: TestStore.server != nil)) func twoServersCommitTogether() throws {
        let stack = try DataStack(schema: try Self.schema.get())
        let stores = ["Left", "Right"].map { TestStore.postgresql.make(configuration: $0) }
        defer { for store in stores { try? store.erase() } }
        for store in stores { try stack.addStorageAndWait(store) }
        for number in 1...3 { try write(Int64(number), stack) }
        for entity in ["Left", "Right"] { #expect(try numbers(stack, entity) == [.int(1), .int(2), .int(3)]) }
        for store in stores {
            #expect(try #require(store as? any PreparedCommitStorage).preparedCommits().isEmpty)
        }
        // One that is refused by the second is nowhere.
        #expect(throws: CancellationError.self) {
            try stack.perform(synchronous: { transaction in
                for entity in ["Left", "Right"] {
                    try transaction.create(Into<DynamicObject>(entity: entity)).setValue(.int(9), for: "x")
                    _ = try transaction.fetchCount(From<DynamicObject>(entity: entity))
                }
                throw CancellationError()
            })
        }
        for entity in ["Left", "Right"] { #expect(try numbers(stack, entity).count == 3) }
    }

    @Test(.enabled(if: TestStore.server != nil)) func preparedTransactionsOfADeadProgramEndAsTheLeaderDecided() throws {
        let schema = try Self.schema.get()
        let stores = ["Left", "Right"].map { TestStore.postgresql.make(configuration: $0) }
        defer { for store in stores { try? store.erase() } }
        for commits in [true, false] {
            let stack = try DataStack(schema: schema)
            for store in stores { try stack.addStorageAndWait(store) }
            let before = try numbers(stack, "Right").count
            let leader = try stores[0].beginWrite(WriteOptions()), follower = try stores[1].beginWrite(WriteOptions())
            try leader.setNote("test", Data([1]))
            let entity = try #require(schema.index(of: "Right")), slots = schema[entity].slots
            let slot = try #require(slots.firstIndex { $0.name == "x" }), key = try follower.reserveKeys(entity, count: 1).lowerBound
            let rows = RowSource(count: 1) { _, batch in
                let cells = batch.appendRow(key: key, version: 1, entity: entity, slots: slots.count)
                cells.update(repeating: .null, count: slots.count)
                cells[slot] = .int(77)
            }
            try follower.apply(ChangeSet(entities: [EntityChanges(entity: entity, inserts: rows)]))
            let commit = try #require(leader as? any PreparingWriter).commitToken(for: CommitRecord())
            _ = try #require(follower as? any PreparingWriter).prepare(for: commit, CommitRecord())
            #expect(try stack.outcomeAndWait(of: commit) == .inProgress)
            if commits { _ = try leader.commit(CommitRecord()) } else { leader.end() }
            #expect(try stack.outcomeAndWait(of: commit) == (commits ? .committed : .notCommitted))
            #expect(try numbers(stack, "Right").count == before)
            for store in stores { try stack.removeStorage(store) }
            // Whoever adds both finds it.
            let next = try DataStack(schema: schema)
            for store in stores { try next.addStorageAndWait(store) }
            #expect(try numbers(next, "Right").count == before + (commits ? 1 : 0))
            for store in stores { try next.removeStorage(store) }
        }
    }

    @Test func theOutcomeOfACommitIsRequestedFromItsStore() throws {
        try open(Pair(left: .sqlite, right: .memory)) { stack, _, _ in
            let unknown = #expect(throws: StorageError.self) {
                try stack.outcomeAndWait(of: CommitToken(storeID: UUID(), value: "1"))
            }
            #expect(unknown?.code == .notFound)
            try add(1, to: "Right", stack)
            let storeID = try #require(stack.fetchIDs(From<DynamicObject>(entity: "Right")).first).key.store
            let mute = #expect(throws: StorageError.self) { try stack.outcomeAndWait(of: CommitToken(storeID: storeID, value: "1")) }
            #expect(mute?.code == .unsupported)
        }
    }

    @Test func anOutcomeIsNotRequestedInsideATransaction() throws {
        try open(Pair(left: .sqlite, right: .lmdb)) { stack, _, _ in
            try add(1, to: "Left", stack)
            let storeID = try #require(stack.fetchIDs(From<DynamicObject>(entity: "Left")).first).key.store
            let token = CommitToken(storeID: storeID, value: "1.ff")
            try stack.perform(synchronous: { transaction in
                try transaction.create(Into<DynamicObject>(entity: "Left")).setValue(.int(2), for: "x")
                // The store would decide by a commit, which would wait for this transaction.
                let error = #expect(throws: StorageError.self) { try stack.outcomeAndWait(of: token) }
                #expect(error?.code == .reentrantCall)
            })
        }
    }

    @Test(arguments: [TestStore.sqlite, .lmdb]) func aRequestForAnOutcomeCanBeCancelled(_ kind: TestStore) async throws {
        let store = kind.make(configuration: "Left"), stack = try DataStack(schema: try Self.schema.get())
        try stack.addStorageAndWait(store)
        defer { try? store.erase() }
        try add(1, to: "Left", stack)
        let storeID = try #require(stack.fetchIDs(From<DynamicObject>(entity: "Left")).first).key.store
        let token = CommitToken(storeID: storeID, value: kind == .sqlite ? "1.ff" : "1.\(UUID())")
        // The store decides by a commit, which waits for this writer.
        let writer = try store.beginWrite(WriteOptions())
        let task = Task { try await stack.outcome(of: token) }
        // Until the request waits in the store; a cancellation before that ends it as well.
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        let cancelled = await #expect(throws: StorageError.self) { try await task.value }
        #expect(cancelled?.code == .cancelled)
        let late = await #expect(throws: StorageError.self) { try await stack.outcome(of: token, timeout: .milliseconds(50)) }
        #expect(late?.code == .timeout)
        writer.end()
        #expect(try await stack.outcome(of: token) != .inProgress)
    }

    @Test(arguments: TestStore.all) func theStoreInMemoryCommitsLast(_ kind: TestStore) throws {
        try open(Pair(left: .memory, right: kind)) { stack, left, right in
            try write(1, stack)
            #expect(try numbers(stack, "Left") == [.int(1)])
            #expect(try numbers(stack, "Right") == [.int(1)])
            if kind == .memory { return }
            right.isArmed = true
            #expect(throws: StorageError.self) { try write(2, stack) }
            #expect(try numbers(stack, "Left") == [.int(1)])
        }
    }
}
