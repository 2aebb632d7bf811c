import Foundation
import Polystore
import TestStores
import Testing

/// Consumers with durable offsets, and what is purged past them.
@Suite struct HistoryConsumerTests {
    private func write(_ count: Int, _ stack: DataStack) throws -> [HistoryToken] {
        let before = try stack.currentHistoryToken()
        for number in 0..<count { try stack.perform(author: "writer", synchronous: { try HistoryFixture.order(Int64(number), in: $0) }) }
        return try HistoryFixture.history(stack, HistoryRequest(after: before), count: count).map(\.token)
    }

    @Test(arguments: TestStore.all) func anOffsetIsKeptAndNeverGoesBack(_ store: TestStore) throws {
        let stack = try HistoryFixture.stack(store), index = try stack.historyConsumer("index")
        #expect(HistoryFixture.code { _ = try index.next() } == .notFound)
        #expect(HistoryFixture.code { try index.acknowledge(stack.currentHistoryToken()) } == .notFound)
        let tokens = try write(5, stack)
        try #require(tokens.count == 5)
        try index.register(from: .beginning)
        #expect(try index.next().transactions.map(\.token) == tokens)
        try index.acknowledge(tokens[2])
        try index.acknowledge(tokens[0])
        // Who is registered keeps its offset.
        #expect(try index.register(from: .beginning) == tokens[2])
        #expect(try index.next().transactions.map(\.token) == Array(tokens[3...]))
        let status = try #require(try index.status())
        #expect(status.token == tokens[2] && status.lag == 2 && status.oldest != nil && !status.isExpired)
        try stack.historyConsumer("late").register(from: .now)
        #expect(try stack.historyConsumers().map(\.name) == ["index", "late"])
        #expect(try stack.historyConsumers().map(\.lag) == [2, 0])
        try index.unregister()
        try index.unregister()
        #expect(try stack.historyConsumers().map(\.name) == ["late"] && index.status() == nil)
        #expect(HistoryFixture.code { _ = try index.next() } == .notFound)
    }

    @Test(arguments: TestStore.all) func namesHaveOneLineAndALimit(_ store: TestStore) throws {
        let stack = try HistoryFixture.stack(store)
        for name in ["", "a\nb", String(repeating: "é", count: 91)] {
            #expect(HistoryFixture.code { try stack.historyConsumer(name).register(from: .now) } == .invalidConfiguration)
        }
        let longest = try stack.historyConsumer(String(repeating: "é", count: 90))
        try longest.register(from: .now)
        #expect(try longest.next().isLast)
    }

    @Test(arguments: TestStore.all) func workAndOffsetAreCommittedTogether(_ store: TestStore) throws {
        let stack = try HistoryFixture.stack(store), index = try stack.historyConsumer("index")
        let tokens = try write(2, stack)
        try index.register(from: .beginning)
        struct Failure: Error {}
        #expect(throws: Failure.self) {
            try stack.perform(synchronous: { transaction in
                try HistoryFixture.order(10, in: transaction)
                try transaction.acknowledgeHistory(tokens[1], for: index)
                throw Failure()
            })
        }
        #expect(try index.status()?.lag == 2)
        try stack.perform(
            author: "index",
            synchronous: { transaction in
                try HistoryFixture.order(11, in: transaction)
                try transaction.acknowledgeHistory(tokens[1], for: index)
            })
        #expect(try index.status()?.token == tokens[1])
        // An offset alone is no entry of the history.
        let rest = try HistoryFixture.history(stack, HistoryRequest(after: tokens[1]), count: 1)
        #expect(rest.map(\.author) == ["index"])
        try stack.perform(synchronous: { try $0.acknowledgeHistory(rest[0].token, for: index) })
        #expect(try index.status()?.token == rest[0].token)
        #expect(try stack.currentHistoryToken() == rest[0].token)
    }

    @Test(arguments: TestStore.all) func nothingIsPurgedThatAConsumerNeeds(_ store: TestStore) throws {
        let stack = try HistoryFixture.stack(store)
        let tokens = try write(6, stack)
        try #require(tokens.count == 6)
        let slow = try stack.historyConsumer("slow"), fast = try stack.historyConsumer("fast")
        #expect(try stack.purgeHistory(.acknowledged).removed == 0)
        try slow.register(from: .after(tokens[1]))
        try fast.register(from: .after(tokens[4]))
        let held = try stack.purgeHistory(.through(tokens[3]))
        #expect(held.removed == 2 && held.through == tokens[1] && held.heldBackBy == ["slow"] && held.ignored == [])
        #expect(try stack.history().transactions.map(\.token) == Array(tokens[2...]))
        #expect(try slow.next().transactions.map(\.token) == Array(tokens[2...]))
        #expect(HistoryFixture.code { _ = try stack.history(HistoryRequest(after: tokens[0])) } == .tokenExpired)
        #expect(HistoryFixture.code { try stack.historyConsumer("new").register(from: .after(tokens[0])) } == .tokenExpired)
        try slow.acknowledge(tokens[2])
        let all = try stack.purgeHistory(.acknowledged)
        #expect(all.removed == 1 && all.through == tokens[2] && all.heldBackBy == ["slow"])
        // Nothing is older than an hour.
        let young = try stack.purgeHistory(.olderThan(.seconds(3600)))
        #expect(young.removed == 0 && young.through == nil && young.heldBackBy == [])
        let aged = try stack.purgeHistory(.olderThan(.seconds(0)))
        #expect(aged.removed == 0 && aged.heldBackBy == ["slow"])
    }

    @Test(arguments: TestStore.all) func anInactiveConsumerIsIgnoredByPurgesAndRestarts(_ store: TestStore) throws {
        let stack = try HistoryFixture.stack(store), gone = try stack.historyConsumer("gone"), here = try stack.historyConsumer("here")
        try gone.register(from: .beginning)
        let tokens = try write(3, stack)
        try #require(tokens.count == 3)
        Thread.sleep(forTimeInterval: 0.3)
        try here.register(from: .after(tokens[1]))
        #expect(try stack.purgeHistory(.acknowledged, ignoringConsumersUnseenFor: .seconds(100)).heldBackBy == ["gone"])
        let outcome = try stack.purgeHistory(.acknowledged, ignoringConsumersUnseenFor: .milliseconds(250))
        #expect(outcome.removed == 2 && outcome.ignored == ["gone"] && outcome.heldBackBy == ["here"])
        #expect(HistoryFixture.code { _ = try gone.next() } == .tokenExpired)
        let status = try #require(try gone.status())
        #expect(status.isExpired && status.lag == nil)
        try gone.restart(from: .beginning)
        #expect(try gone.next().transactions.map(\.token) == [tokens[2]])
        try gone.restart(from: .now)
        #expect(try gone.next().transactions.isEmpty)
    }

    @Test(arguments: TestStore.all) func anExpiredConsumerKeepsTheEntriesAfterItsRestart(_ store: TestStore) throws {
        let stack = try HistoryFixture.stack(store), consumer = try stack.historyConsumer("expired")
        try consumer.register(from: .beginning)
        let tokens = try write(3, stack)
        try #require(tokens.count == 3)
        try consumer.expire(after: tokens[0])
        #expect(HistoryFixture.code { _ = try consumer.next() } == .tokenExpired)
        // An older token only shows that the consumer is active.
        try consumer.acknowledge(HistoryToken(store: tokens[0].store, position: -1))
        #expect(try consumer.status()?.isExpired == true)
        let outcome = try stack.purgeHistory(.olderThan(.seconds(0)))
        #expect(outcome.removed == 1 && outcome.heldBackBy == ["expired"])
        try consumer.restart(from: .after(tokens[0]))
        #expect(try consumer.next().transactions.map(\.token) == [tokens[1], tokens[2]])
    }
}
