internal import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

/// The running closure of a transaction or of a read, registered for its thread and for the tasks that it starts.
///
/// Inside the closure of a transaction, calls that would wait for a transaction of the stack are refused, because they would wait for
/// themselves. A task that the closure has started waits for its turn like any other work. Inside either closure, reads of the stack begin
/// although it is shut down, because the shutdown waits for the closure. After the end of the closure the registration has no effect.
package final class RunningTransaction: Sendable {
    @TaskLocal private static var all: [RunningTransaction] = []

    private let stack: ObjectIdentifier
    private let thread = Threads.ID.current
    private let isRead: Bool
    private let hasEnded = Atomic(false)

    private init(_ core: StackCore, isRead: Bool) {
        stack = ObjectIdentifier(core)
        self.isRead = isRead
    }

    /// Whether the closure is still running.
    var isRunning: Bool { !hasEnded.load(ordering: .acquiring) }

    /// Runs the closure of a transaction of a stack, or of a read.
    static func run<R>(_ core: StackCore, isRead: Bool = false, _ body: () throws -> R) throws -> R {
        let transaction = RunningTransaction(core, isRead: isRead)
        defer { transaction.hasEnded.store(true, ordering: .releasing) }
        return try $all.withValue(all.filter(\.isRunning) + [transaction], operation: body)
    }

    /// Returns the transaction of a stack whose closure started the current task, if the closure is still running. Not inlined into tasks:
    /// decision 0038, "No lock is inlined where a task waits".
    @inline(never) static func around(_ core: StackCore) -> RunningTransaction? {
        all.last { !$0.isRead && $0.stack == ObjectIdentifier(core) && $0.isRunning }
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
        if RunningTransaction.isInside(self, countingReads: false) { throw RunningTransaction.reentrantCall }
    }
}

extension StackCore {
    /// Whether the closure of a transaction or of a read of the stack is running on this thread.
    var isInsideClosure: Bool { RunningTransaction.isInside(self, countingReads: true) }
}

extension RunningTransaction {
    /// Whether the closure of a transaction of a stack is running on this thread, or also that of a read.
    fileprivate static func isInside(_ core: StackCore, countingReads: Bool) -> Bool {
        if all.isEmpty { return false }
        let thread = Threads.ID.current
        return all.contains {
            $0.thread == thread && (countingReads || !$0.isRead) && $0.stack == ObjectIdentifier(core) && $0.isRunning
        }
    }
}
