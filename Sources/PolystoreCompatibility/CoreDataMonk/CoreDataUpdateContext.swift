internal import Foundation
internal import Polystore
internal import Synchronization

/// An update of CoreDataMonk with several steps. Its changes remain in memory between the steps, and no store is locked meanwhile.
///
/// Unchecked: only the thread that holds the lock accesses the transaction, one step at a time, and steps on other threads return only
/// Sendable values.
public final class CoreDataUpdateContext: @unchecked Sendable {
    private let transaction: UnsafeTransaction
    private let lock = NSRecursiveLock()
    /// The lock of all serial updates, or nil if the update does not wait for others.
    private let order: NSRecursiveLock?
    private let observers: CommitObservers

    init(_ stack: CoreDataStack, _ order: UpdateOrder, _ observers: CommitObservers) {
        transaction = stack.dataStack.beginUnsafe()
        self.order = order == .serial ? stack.serialOrder : nil
        self.observers = observers
    }

    /// Runs a step on the calling thread, after the steps that are running. It may also be called in a step, or in a callback of a step.
    ///
    /// The objects of the update are confined to its steps. Values that leave a step must be Sendable, such as an id.
    public func perform<R: Sendable>(_ body: @Sendable (CoreDataUpdate) throws -> R) throws -> R { try run(body) }

    /// Runs a step for a caller that uses the update in a single isolation.
    func run<R>(_ body: (CoreDataUpdate) throws -> R) throws -> R {
        order?.lock()
        defer { order?.unlock() }
        lock.lock()
        defer { lock.unlock() }
        let update = CoreDataUpdate(self, transaction)
        defer { update.end() }
        return try body(update)
    }

    func didCommit() { observers.didCommit() }
}
