internal import PolystoreStorage
internal import Synchronization

/// The transactions and reads of a stack that have begun, so that a shutdown refuses new ones and waits for the end of the others.
final class WorkGate: Sendable {
    private let state = Mutex((running: 0, isClosed: false))

    /// Begins work. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    ///
    /// - Parameter isInner: Whether the work is a part of a running transaction, which may end.
    /// - Throws: `storeClosed` after the beginning of a shutdown.
    @inline(never) func enter(isInner: Bool = false) throws(StorageError) {
        let hasEntered = state.withLock { state in
            let hasEntered = isInner || !state.isClosed
            if hasEntered { state.running += 1 }
            return hasEntered
        }
        if !hasEntered { throw Self.closed }
    }

    /// Ends work.
    @inline(never) func leave() { state.withLock { $0.running -= 1 } }

    /// Refuses work from now on.
    @inline(never) func close() { state.withLock { $0.isClosed = true } }

    /// Whether no work is running.
    var isIdle: Bool { @inline(never) get { state.withLock { $0.running == 0 } } }

    /// Whether work is refused.
    var isClosed: Bool { @inline(never) get { state.withLock { $0.isClosed } } }

    static var closed: StorageError { StorageError(.storeClosed, "the stack was shut down, and begins no new work") }
}

extension StackCore {
    /// - Throws: `storeClosed` after the beginning of a shutdown, except inside a transaction, which may end.
    func checkGate() throws(StorageError) { if gate.isClosed, !isInsideTransaction { throw WorkGate.closed } }
}
