import Foundation
import Polystore
import PolystoreInMemory
import Synchronization
import TestStores
import Testing

/// What a shutdown waits for, and what it does not wait for.
@Suite(.timeLimit(.minutes(2))) struct DrainingTests {
    private func code(_ body: () async throws -> Void) async -> StorageError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? StorageError)?.code
        }
    }

    private func stack(_ storage: any StorageInterface) throws -> DataStack {
        let stack = try DataStack(Person.self, Animal.self, Dog.self)
        try stack.addStorageAndWait(storage)
        try stack.perform(synchronous: { transaction in
            for number in 10..<40 { try transaction.create(Person.self).name = "P\(number)" }
        })
        return stack
    }

    /// Runs work that may block on a thread of its own, so that no thread of Swift's pool waits.
    private func onThread<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
        try await withCheckedThrowingContinuation { done in
            Thread.detachNewThread { done.resume(with: Result { try body() }) }
        }
    }

    /// Waits until a stack begins no new work.
    private func isClosing(_ stack: DataStack) async throws {
        while await code({ try await stack.read { _ in } }) == nil { try await Task.sleep(for: .milliseconds(1)) }
    }

    // MARK: Stores that are being added

    @Test(arguments: [true, false]) func aStoreThatIsBeingAddedIsClosedAgain(_ waits: Bool) async throws {
        let storage = SlowlyOpenedStore(), stack = try DataStack(Person.self, Animal.self, Dog.self)
        let addition = Task {
            if waits { _ = try await onThread { try stack.addStorageAndWait(storage) } } else { _ = try await stack.addStorage(storage) }
        }
        while !storage.isOpening { try await Task.sleep(for: .milliseconds(1)) }
        let hasEnded = try await stack.shutdown(draining: .milliseconds(20))
        #expect(!hasEnded)
        storage.mayOpen.signal()
        #expect(await code { try await addition.value } == .storeClosed)
        #expect(!storage.isOpen && stack.storages.isEmpty)
    }

    @Test func aShutdownWaitsForAnAddition() async throws {
        let storage = SlowlyOpenedStore(), stack = try DataStack(Person.self, Animal.self, Dog.self)
        let addition = Task { try await stack.addStorage(storage) }
        while !storage.isOpening { try await Task.sleep(for: .milliseconds(1)) }
        async let hasEnded = stack.shutdown(draining: .seconds(30))
        try await isClosing(stack)
        storage.mayOpen.signal()
        let isDrained = try await hasEnded
        #expect(isDrained && !storage.isOpen && stack.storages.isEmpty)
        #expect(await code { _ = try await addition.value } == .storeClosed)
    }
}

/// A store that is opened when a test lets it.
private final class SlowlyOpenedStore: ForwardingStore {
    static let storeType = "slowly opened"
    let base: any StorageInterface = InMemoryStore()
    let mayOpen = DispatchSemaphore(value: 0)
    private let state = Mutex((isOpening: false, isOpen: false))

    var isOpening: Bool { @inline(never) get { state.withLock { $0.isOpening } } }
    var isOpen: Bool { @inline(never) get { state.withLock { $0.isOpen } } }

    func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        state.withLock { $0.isOpening = true }
        mayOpen.wait()
        let opened = try base.open(request)
        state.withLock { $0.isOpen = true }
        return opened
    }

    func close() throws(StorageError) {
        try base.close()
        state.withLock { $0.isOpen = false }
    }
}
