import Foundation
import Polystore
import PolystoreInMemory
import PolystorePostgreSQL
import Synchronization
import TestStores
import Testing

/// Closures that compute for long and ask whether they should end.
@Suite struct CheckCancellationTests {
    /// Computes until it is told to end; the time limit of the tests ends it otherwise.
    private static func compute(_ check: () throws -> Void) throws {
        while true {
            try check()
            Thread.sleep(forTimeInterval: 0.001)
        }
    }

    private func code(_ task: Task<Void, any Error>) async -> StorageError.Code? {
        do {
            try await task.value
            return nil
        } catch {
            return (error as? StorageError)?.code
        }
    }

    /// Tasks in whose closures a transaction and a read compute.
    private func computing(_ stack: DataStack, timeout: Duration? = nil) async -> [Task<Void, any Error>] {
        let begun = AsyncStream<Void>.makeStream()
        let tasks = [
            Task {
                try await stack.perform(timeout: timeout) { transaction in
                    try transaction.create(Person.self).name = "Ann"
                    begun.continuation.yield()
                    try Self.compute { try transaction.checkCancellation() }
                }
            },
            Task {
                try await stack.read(timeout: timeout) { source in
                    begun.continuation.yield()
                    try Self.compute { try source.checkCancellation() }
                }
            },
        ]
        var count = 0
        for await _ in begun.stream {
            count += 1
            if count == 2 { break }
        }
        return tasks
    }

    private func stack() throws -> DataStack {
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(InMemoryStore())
        return stack
    }

    @Test(.timeLimit(.minutes(1))) func aCancelledTaskEndsTheClosure() async throws {
        let stack = try stack(), tasks = await computing(stack)
        for task in tasks {
            task.cancel()
            #expect(await code(task) == .cancelled)
        }
        #expect(try stack.fetchCount(From<Person>()) == 0)
    }

    @Test(.timeLimit(.minutes(1))) func anExpiredTimeEndsTheClosure() async throws {
        let stack = try stack()
        for task in await computing(stack, timeout: .milliseconds(500)) { #expect(await code(task) == .timeout) }
        #expect(try stack.fetchCount(From<Person>()) == 0)
        #expect {
            try stack.perform(timeout: .milliseconds(20), synchronous: { t in try Self.compute { try t.checkCancellation() } })
        } throws: {
            ($0 as? StorageError)?.code == .timeout
        }
    }

    @Test(.timeLimit(.minutes(1))) func aShutdownEndsTheClosure() async throws {
        let stack = try stack(), tasks = await computing(stack)
        try await stack.shutdown()
        for task in tasks { #expect(await code(task) == .storeClosed) }
    }

    @Test func nothingEndsAClosureThatMayGoOn() throws {
        let stack = try stack()
        var ended: (WriteTransaction?, ReadTransaction?)
        try stack.perform(
            timeout: .seconds(600),
            synchronous: { transaction in
                try transaction.checkCancellation()
                try transaction.create(Person.self).name = "Ann"
                try transaction.checkCancellation()
                ended.0 = transaction
            })
        try stack.read(synchronous: { source in
            try source.checkCancellation()
            ended.1 = source
        })
        #expect(try stack.fetchCount(From<Person>()) == 1)
        #expect { try ended.0?.checkCancellation() } throws: { ($0 as? StorageError)?.code == .storeClosed }
        #expect { try ended.1?.checkCancellation() } throws: { ($0 as? StorageError)?.code == .storeClosed }
    }

    /// What an earlier call has thrown, and the closure has caught, is what the next access throws.
    @Test func aSwallowedCancellationIsThrownAgain() throws {
        let stack = try stack()
        var again: StorageError?
        let error = #expect(throws: StorageError.self) {
            try stack.perform(synchronous: { transaction in
                do { try transaction.cancel() } catch {}
                do throws(StorageError) { try transaction.checkCancellation() } catch { again = error }
            })
        }
        #expect(error?.code == .cancelled && again?.code == .cancelled)
    }

    @Test func readsRunAsManyAtOnceAsTheStoresServe() async throws {
        func capabilities(_ readers: Int?) -> StorageCapabilities {
            StorageCapabilities([], maximumValueBytes: 8, maximumColumns: 8, maximumReaders: readers)
        }
        // Without pools as many as there are cores.
        #expect(StackWorkers.concurrentReads([], cores: 2) == 6)
        #expect(StackWorkers.concurrentReads([capabilities(nil)], cores: 64) == 64)
        // A pool keeps four connections for streams and four for observers.
        #expect(StackWorkers.concurrentReads([capabilities(16)], cores: 64) == 8)
        #expect(StackWorkers.concurrentReads([capabilities(100), capabilities(nil)], cores: 2) == 92)
        #expect(StackWorkers.concurrentReads([capabilities(100), capabilities(40)], cores: 2) == 32)
        #expect(StackWorkers.concurrentReads([capabilities(1)], cores: 64) == 6)
        let stack = try stack(), cores = ProcessInfo.processInfo.activeProcessorCount
        func capacity() -> Int? { stack.queueStatistics.first { $0.kind == .reads }?.capacity }
        #expect(capacity() == max(6, cores))
        guard TestStore.all.contains(.postgresql) else { return }
        let other = try DataStack(Person.self, Animal.self, Dog.self)
        let store = try PostgreSQLStore(
            url: StoreURL("\(TestStore.server ?? "")&x-readers=20&x-schema=polystore_\(UUID().uuidString.prefix(8).lowercased())"))
        try other.addStorageAndWait(store)
        #expect(other.queueStatistics.first { $0.kind == .reads }?.capacity == 12)
        try other.removeStorage(store)
        #expect(other.queueStatistics.first { $0.kind == .reads }?.capacity == max(6, cores))
        try store.erase()
    }
}
