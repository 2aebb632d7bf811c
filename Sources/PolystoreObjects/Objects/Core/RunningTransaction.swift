internal import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

/// The running closure of a transaction, registered for its thread and for the tasks that it starts.
///
/// Inside the closure, calls that would wait for a transaction of the stack are refused, because they would wait for themselves. A task
/// that the closure has started waits for its turn like any other work. After the end of the closure the registration has no effect.
package final class RunningTransaction: Sendable {
    @TaskLocal private static var all: [RunningTransaction] = []

    private let stack: ObjectIdentifier
    private let thread = Threads.ID.current
    private let hasEnded = Atomic(false)

    private init(_ core: StackCore) { stack = ObjectIdentifier(core) }

    /// Whether the closure is still running.
    var isRunning: Bool { !hasEnded.load(ordering: .acquiring) }

    /// Runs the closure of a transaction of a stack.
    static func run<R>(_ core: StackCore, _ body: () throws -> R) throws -> R {
        let transaction = RunningTransaction(core)
        defer { transaction.hasEnded.store(true, ordering: .releasing) }
        return try $all.withValue(all.filter(\.isRunning) + [transaction], operation: body)
    }

    /// Returns the transaction of a stack whose closure started the current task, if the closure is still running. Not inlined into tasks:
    /// decision 0038, "No lock is inlined where a task waits".
    @inline(never) static func around(_ core: StackCore) -> RunningTransaction? {
        all.last { $0.stack == ObjectIdentifier(core) && $0.isRunning }
    }

    static var reentrantCall: StorageError {
        StorageError(
            .reentrantCall, "a transaction of this stack was started inside another one; use the outer transaction")
    }
}

extension StackCore {
    /// - Throws: `reentrantCall` inside the closure of a transaction of the stack, where waiting for the end of that transaction would
    ///   never return. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    @inline(never) func checkReentrancy() throws(StorageError) {
        if RunningTransaction.isInside(self) { throw RunningTransaction.reentrantCall }
    }
}

extension StackCore {
    /// Whether the closure of a transaction of the stack is running on this thread.
    var isInsideTransaction: Bool { RunningTransaction.isInside(self) }
}

extension RunningTransaction {
    /// Whether the closure of a transaction of a stack is running on this thread.
    fileprivate static func isInside(_ core: StackCore) -> Bool {
        if all.isEmpty { return false }
        let thread = Threads.ID.current
        return all.contains { $0.thread == thread && $0.stack == ObjectIdentifier(core) && $0.isRunning }
    }
}
