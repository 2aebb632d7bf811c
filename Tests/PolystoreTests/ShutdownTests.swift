import Foundation
import Polystore
import PolystoreInMemory
import Synchronization
import TestStores
import Testing

/// The end of a stack's work.
@Suite struct ShutdownTests {
    private func code(_ body: () async throws -> Void) async -> StorageError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? StorageError)?.code
        }
    }

    /// A transaction that runs until it is told to end.
    private func running(_ stack: DataStack) async -> (task: Task<Int, any Error>, end: @Sendable () -> Void) {
        let begun = AsyncStream<Void>.makeStream(), mayEnd = DispatchSemaphore(value: 0)
        let task = Task {
            try await stack.perform { transaction in
                try transaction.create(Person.self).name = "Ann"
                begun.continuation.finish()
                mayEnd.wait()
                return try transaction.fetchCount(From<Person>())
            }
        }
        for await _ in begun.stream {}
        return (task, { mayEnd.signal() })
    }

    @Test func runningTransactionsEndWithinTheTime() async throws {
        let store = InMemoryStore(), stack = try DataStack(Person.self, Animal.self, Dog.self)
        try await stack.addStorage(store)
        let (task, end) = await running(stack)
        async let hasEnded = stack.shutdown(draining: .seconds(30))
        while await code({ try await stack.read { _ in } }) == nil { try await Task.sleep(for: .milliseconds(1)) }
        // No new work begins.
        #expect(await code { try await stack.perform { _ in } } == .storeClosed)
        #expect(await code { try stack.perform(synchronous: { _ in }) } == .storeClosed)
        #expect(await code { _ = try stack.fetchCount(From<Person>()) } == .storeClosed)
        #expect(await code { _ = try stack.queryAttributes(From<Person>().select(.count())) } == .storeClosed)
        #expect(await code { for try await _ in stack.fetchStream(From<Person>()) {} } == .storeClosed)
        #expect(await code { try await stack.addStorage(InMemoryStore()) } == .storeClosed)
        #expect(stack.storages.count == 1)
        end()
        let (count, isDrained) = try await (task.value, hasEnded)
        #expect(count == 1 && isDrained)
        #expect(stack.storages.isEmpty)
        // A second call has nothing to do.
        let hasNothingToDo = try await stack.shutdown(draining: .seconds(30))
        #expect(hasNothingToDo)
    }

    /// The loops are children of the test: the end of its time cancels them.
    @Test(.timeLimit(.minutes(1))) func sequencesOfCommitsAndOfPublishedValuesEnd() async throws {
        let stack = try DataStack(Person.self, Animal.self, Dog.self), people = From<Person>()
        try await stack.addStorage(InMemoryStore())
        try await stack.perform { try $0.create(Person.self).name = "Ann" }
        let ann = try #require(try stack.fetchOne(people))
        let list = try stack.publishList(people), object = try stack.publishObject(ann)
        let count = try stack.publishValue(of: Person.self) { try $0.fetchCount(From<Person>()) }
        let commits = try [stack.commits(), stack.commits(.gap(after: 100))]
        // The removal of the store may be merged into the commit, whose objects are unknown then.
        async let merged = commits[0].reduce(0) { number, _ in number + 1 }
        async let all = commits[1].reduce(0) { $0 + $1.changes.insertedObjectIDs(Person.self).count }
        async let updates = list.updates.reduce(0) { number, _ in number + 1 }
        async let snapshots = list.snapshots.reduce(0) { number, _ in number + 1 }
        async let objects = object.snapshots.reduce(0) { number, _ in number + 1 }
        async let values = count.values.reduce(0) { number, _ in number + 1 }
        try await stack.perform { try $0.create(Person.self).name = "Bob" }
        try await stack.shutdown(draining: .seconds(30))
        #expect(await merged > 0)
        #expect(await all == 1)
        #expect(await updates > 0)
        #expect(await snapshots > 0)
        #expect(await objects > 0)
        #expect(await values > 0)
        // Those that begin later end at once, with the newest value.
        #expect(try await stack.commits().reduce(0) { number, _ in number + 1 } == 0)
        #expect(await list.updates.reduce(0) { number, _ in number + 1 } == 1)
    }

    @Test func aTransactionThatTakesLongerFailsAndStoresNothing() async throws {
        let name = "polystore_\(UUID().uuidString.lowercased())"
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(TestStore.sqlite.make(named: name))
        let (task, end) = await running(stack)
        let hasEnded = try await stack.shutdown(draining: .milliseconds(50))
        #expect(!hasEnded)
        end()
        #expect(await code { _ = try await task.value } == .storeClosed)
        let other = try DataStack(Person.self, Animal.self, Dog.self)
        try other.addStorageAndWait(TestStore.sqlite.make(named: name))
        #expect(try other.fetchCount(From<Person>()) == 0)
    }
}
