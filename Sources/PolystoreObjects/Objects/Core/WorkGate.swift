internal import PolystoreStorage
internal import Synchronization

/// The transactions, reads, fetches and streams of a stack that have begun, so that a shutdown refuses new ones and waits for the end of
/// the others. What monitors and publishers fetch again after commits is not counted: it would keep a stack open that nobody uses.
final class WorkGate: Sendable {
    private let state = Mutex((running: 0, isClosed: false))

    /// Begins work. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    ///
    /// - Parameter isInner: Whether the work is a part of a running transaction or read, which may end.
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
    /// Begins work of the program. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    ///
    /// - Throws: `storeClosed` after the beginning of a shutdown, except inside a transaction or a read, which may end.
    @inline(never) package func beginWork() throws(StorageError) {
        do throws(StorageError) { try gate.enter() } catch {
            guard isInsideClosure else { throw error }
            try gate.enter(isInner: true)
        }
    }

    /// Ends work of the program.
    @inline(never) package func endWork() { gate.leave() }

    /// Runs a read of the program, for which a shutdown waits.
    ///
    /// - Throws: `storeClosed` after the beginning of a shutdown, except inside a transaction or a read, which may end.
    @inline(__always)
    package func working<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        try beginWork()
        defer { gate.leave() }
        return try body()
    }
}
