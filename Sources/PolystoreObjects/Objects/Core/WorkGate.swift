internal import PolystoreStorage
internal import Synchronization

/// The transactions, reads, fetches and streams of a stack that have begun, so that a shutdown refuses new ones and waits for the end of
/// the others. What monitors and publishers fetch again after commits is not counted: it would keep a stack open that nobody uses.
final class WorkGate: Sendable {
    private struct State {
        var running = 0
        var isClosed = false
        /// The limits of the running work that has one.
        var limits: [ObjectIdentifier: WorkLimit] = [:]
    }

    private let state = Mutex(State())

    /// Begins work. Not inlined into tasks: decision 0038, "No lock is inlined where a task waits".
    ///
    /// - Parameters:
    ///   - limit: The limit by which a shutdown can end the work.
    ///   - isInner: Whether the work is a part of a running transaction or read, which may end.
    /// - Throws: `storeClosed` after the beginning of a shutdown.
    @inline(never) func enter(_ limit: WorkLimit? = nil, isInner: Bool = false) throws(StorageError) {
        let hasEntered = state.withLock { state in
            let hasEntered = isInner || !state.isClosed
            if hasEntered {
                state.running += 1
                if let limit { state.limits[ObjectIdentifier(limit)] = limit }
            }
            return hasEntered
        }
        if !hasEntered { throw Self.closed }
    }

    /// Ends work.
    ///
    /// - Parameter limit: The limit with which it began.
    @inline(never) func leave(_ limit: WorkLimit? = nil) {
        state.withLock { state in
            state.running -= 1
            if let limit { state.limits[ObjectIdentifier(limit)] = nil }
        }
    }

    /// Ends the running work that has a limit and is not being committed, also its statements on servers, with `storeClosed`.
    @inline(never) func endWork() {
        for limit in state.withLock({ Array($0.limits.values) }) {
            limit.cancel(StorageError(.storeClosed, "the stack was shut down while the work was running; nothing was changed by it"))
        }
    }

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
    /// - Parameter limit: The limit by which a shutdown can end the work.
    /// - Throws: `storeClosed` after the beginning of a shutdown, except inside a transaction or a read, which may end.
    @inline(never) package func beginWork(_ limit: WorkLimit? = nil) throws(StorageError) {
        do throws(StorageError) { try gate.enter(limit) } catch {
            guard isInsideClosure else { throw error }
            try gate.enter(limit, isInner: true)
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
