import Foundation
import Polystore
import PolystoreInMemory
import PolystoreLMDB
import PolystorePostgreSQL
import PolystoreSQLite
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

    @Test(arguments: Pair.all) func whatTheSecondMissesItTakesOverBeforeItIsWrittenTo(_ pair: Pair) throws {
        try open(pair) { stack, left, right in
            try write(1, stack)
            // The server commits first, otherwise the store that was added first.
            let second = pair.right == .postgresql ? left : right
            second.isArmed = true
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

    @Test(arguments: Pair.all) func whatTheSecondMissesItTakesOverBeforeItIsMigrated(_ pair: Pair) async throws {
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
        let second = pair.right == .postgresql ? left : right
        second.isBroken = true
        try? write(2, old)
        try old.removeStorage(left)
        try old.removeStorage(right)
        second.isBroken = false
        var entities = try Self.schema.get().entities
        for index in entities.indices { entities[index].attributes.append(Attribute("level", .int32, defaultValue: .int(3))) }
        let schema = try Schema(version: "2", entities: entities, configurations: Self.schema.get().configurations)
        let new = try DataStack(schema: schema)
        if pair.right != .postgresql {
            // What the first keeps has to be asked of it: alone the second is not changed.
            await #expect { try await new.addStorage(right) } throws: { ($0 as? StorageError)?.code == .peerUnavailable }
        }
        for store in pair.right == .postgresql ? [right, left] : [left, right] { try await new.addStorage(store) }
        for entity in ["Left", "Right"] {
            #expect(try numbers(new, entity) == [.int(1), .int(2)])
            #expect(try new.fetchAll(From<DynamicObject>(entity: entity)).map { try $0.value("level") } == [.int(3), .int(3)])
        }
        try write(3, new)
        #expect(try numbers(new, "Left") == [.int(1), .int(2), .int(3)] && numbers(new, "Right") == numbers(new, "Left"))
        try new.removeStorage(left)
        try new.removeStorage(right)
    }

    @Test(arguments: Pair.all) func whenTheFirstDoesNotCommitNeitherHasAnything(_ pair: Pair) throws {
        try open(pair) { stack, left, right in
            try write(1, stack)
            (pair.right == .postgresql ? right : left).isArmed = true
            #expect(throws: StorageError.self) { try write(2, stack) }
            #expect(try numbers(stack, "Left") == [.int(1)])
            #expect(try numbers(stack, "Right") == [.int(1)])
            try write(3, stack)
            #expect(try numbers(stack, "Right") == [.int(1), .int(3)])
        }
    }

    @Test func aDetachedTransactionWhoseSecondStoreFollowsLaterHasNoChangesLeft() throws {
        try open(Pair(left: .sqlite, right: .lmdb)) { stack, _, right in
            try write(1, stack)
            let work = stack.beginUnsafe()
            for name in ["Left", "Right"] {
                try work.fetchAll(From<DynamicObject>(entity: name))[0].setValue(.int(2), for: "x")
            }
            right.isBroken = true
            #expect(throws: StorageError.self) { try work.commit() }
            #expect(!work.hasChanges, "the first store has committed")
            right.isBroken = false
            try work.commit()
            try write(3, stack)
            #expect(try numbers(stack, "Left") == [.int(2), .int(3)])
            #expect(try numbers(stack, "Right") == [.int(2), .int(3)])
        }
    }

    @Test func aStoreWithoutItsPeerIsNotWrittenToUntilItForgets() throws {
        let left = TestStore.sqlite.make(configuration: "Left"), right = TestStore.lmdb.make(configuration: "Right")
        defer {
            try? left.erase()
            try? right.erase()
        }
        let stack = try DataStack(schema: try Self.schema.get())
        try stack.addStorageAndWait(left)
        try stack.addStorageAndWait(right)
        try write(1, stack)
        try stack.removeStorage(left)
        let add = {
            try stack.perform(synchronous: { transaction in
                try transaction.create(Into<DynamicObject>(entity: "Right")).setValue(.int(7), for: "x")
            })
        }
        let error = #expect(throws: StorageError.self) { try add() }
        #expect(error?.code == .peerUnavailable)
        #expect(try numbers(stack, "Right") == [.int(1)])
        try stack.forgetPeers(of: right)
        try add()
        #expect(try numbers(stack, "Right") == [.int(1), .int(7)])
    }

    @Test(.enabled(if: TestStore.server != nil)) func twoServersAreRefused() throws {
        try open(Pair(left: .postgresql, right: .postgresql)) { stack, _, _ in
            let error = #expect(throws: StorageError.self) { try write(1, stack) }
            #expect(error?.code == .unsupported)
            let left = try numbers(stack, "Left")
            #expect(left.isEmpty)
        }
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
