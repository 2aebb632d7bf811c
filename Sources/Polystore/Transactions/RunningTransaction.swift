internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// The closure of a transaction while it runs: known to the thread on which it does, and to the tasks that it starts.
///
/// What would wait for a transaction of the stack is refused inside the closure, because it would wait for itself. A task that the closure
/// has started waits for its turn like any other work; after the end of the closure it is nothing special.
package final class RunningTransaction: Sendable {
    @TaskLocal private static var all: [RunningTransaction] = []

    private let stack: ObjectIdentifier
    private let thread = ObjectIdentifier(Thread.current)
    private let hasEnded = Atomic(false)

    private init(_ core: StackCore) { stack = ObjectIdentifier(core) }

    /// Whether the closure still runs.
    var isRunning: Bool { !hasEnded.load(ordering: .acquiring) }

    /// Runs the closure of a transaction of a stack.
    static func run<R>(_ core: StackCore, _ body: () throws -> R) throws -> R {
        let transaction = RunningTransaction(core)
        defer { transaction.hasEnded.store(true, ordering: .releasing) }
        return try $all.withValue(all.filter(\.isRunning) + [transaction], operation: body)
    }

    /// The transaction of a stack whose closure started the task that asks, while it runs. Not inlined into tasks: decision 0038, "No lock is
    /// inlined where a task waits".
    @inline(never) static func around(_ core: StackCore) -> RunningTransaction? {
        all.last { $0.stack == ObjectIdentifier(core) && $0.isRunning }
    }

    static var reentrantCall: StorageError {
        StorageError(
            .reentrantCall, "a transaction of this stack was started from inside another; use the transaction that is already there")
    }
}

extension StackCore {
    /// - Throws: `reentrantCall` inside the closure of a transaction of the stack: what waits for its end would wait for ever. Not inlined into
    ///   tasks: decision 0038, "No lock is inlined where a task waits".
    @inline(never) func checkReentrancy() throws(StorageError) {
        if RunningTransaction.isInside(self) { throw RunningTransaction.reentrantCall }
    }
}

extension RunningTransaction {
    /// Whether the closure of a transaction of a stack runs on this thread.
    fileprivate static func isInside(_ core: StackCore) -> Bool {
        if all.isEmpty { return false }
        let thread = ObjectIdentifier(Thread.current)
        return all.contains { $0.thread == thread && $0.stack == ObjectIdentifier(core) && $0.isRunning }
    }
}
