import Foundation
import Polystore
import Synchronization
import TestStores
import Testing

/// The order of synchronous and asynchronous transactions, and what is known in a completion.
@Suite struct SubmissionOrderTests {
    private func stack(_ store: TestStore) throws -> DataStack {
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(store.make())
        return stack
    }

    @Test(arguments: TestStore.all) func aSynchronousTransactionSeesTheAsynchronousOnesSubmittedBefore(_ store: TestStore) throws {
        let stack = try stack(store)
        defer { for storage in stack.storages { try? storage.erase() } }
        for number in 1...20 {
            stack.perform(
                asynchronous: { transaction in
                    if number % 10 == 0 { Thread.sleep(forTimeInterval: 0.02) }
                    try transaction.create(Person.self).age = number
                }, completion: { _ in })
        }
        let ages = try stack.perform(synchronous: { try $0.fetchAll(From<Person>().orderBy(.ascending(\.age))).map(\.age) })
        #expect(ages == Array(1...20))
    }

    @Test func aSynchronousTransactionInACompletionDoesNotWaitForItself() throws {
        let stack = try stack(.memory), done = DispatchSemaphore(value: 0)
        for _ in 0..<50 {
            stack.perform(asynchronous: { _ = try $0.create(Person.self) }) { _ in
                _ = try? stack.perform(synchronous: { try $0.create(Person.self).age = 1 })
                done.signal()
            }
        }
        for _ in 0..<50 { #expect(done.wait(timeout: .now() + 10) == .success) }
        #expect(try stack.fetchCount(From<Person>()) == 100)
    }

    @Test func aSynchronousTransactionInsideAClosureIsRefused() throws {
        let stack = try stack(.memory), code = Mutex<StorageError.Code?>(nil), done = DispatchSemaphore(value: 0)
        stack.perform(asynchronous: { _ in
            do { try stack.perform(synchronous: { _ in }) } catch { code.withLock { $0 = (error as? StorageError)?.code } }
        }) { _ in done.signal() }
        #expect(done.wait(timeout: .now() + 10) == .success && code.withLock { $0 } == .reentrantCall)
    }

    @Test func theTimeoutOfASynchronousTransactionIncludesItsWait() throws {
        let stack = try stack(.memory), mayEnd = DispatchSemaphore(value: 0)
        stack.perform(asynchronous: { _ in _ = mayEnd.wait(timeout: .now() + 10) }, completion: { _ in })
        defer { mayEnd.signal() }
        #expect { try stack.perform(timeout: .milliseconds(50), synchronous: { _ in }) } throws: { ($0 as? StorageError)?.code == .timeout }
    }

    /// The merge does not depend on the task of the context, which takes its own turn on the main queue.
    @MainActor @Test func aCompletionOnTheMainQueueFindsTheCommitInMonitors() async throws {
        let stack = try stack(.memory), context = stack.viewContext
        for round in 0..<200 {
            try stack.perform(synchronous: { try $0.create(Person.self).age = round })
            let person = try #require(try context.fetchOne(From<Person>())), id = person.objectID
            let monitor = try stack.monitorObject(person)
            nonisolated(unsafe) let monitored = monitor
            let (result, isDeleted) = await withCheckedContinuation { continuation in
                stack.perform(asynchronous: { _ = try $0.delete([try #require(try $0.edit(id))]) }, on: .main) { result in
                    continuation.resume(returning: (result, MainActor.assumeIsolated { monitored.isObjectDeleted }))
                }
            }
            #expect(throws: Never.self) { try result.get() }
            #expect(isDeleted, "round \(round)")
        }
    }
}
