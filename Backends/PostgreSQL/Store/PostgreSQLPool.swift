#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreStorage
internal import Synchronization

/// A limited number of slots for sessions of one kind. Connections are opened on demand and kept with those of the other pools.
final class PostgreSQLPool: Sendable {
    private struct State: ~Copyable {
        var free: Int
        /// The sessions that wait for a connection, in order of arrival.
        var waiting: [DispatchSemaphore] = []
        var isClosed = false
    }

    /// The times that the sessions of a pool wait for the server.
    struct Patience: Sendable {
        /// The time that the server may take to end a statement after a request to cancel it, before the connection is given up.
        var grace = Duration.seconds(3)
        /// The time without an answer of the server after which the connection counts as lost; nil for never.
        var silence: Duration?

        /// The patience of sessions that read: nothing but the connection is lost with them.
        static func reading(_ silence: Duration?) -> Patience { Patience(grace: .milliseconds(500), silence: silence) }
    }

    private let state: Mutex<State>
    private let patience: Patience
    private let idle: PostgreSQLIdleConnections
    private let open: @Sendable () throws -> PostgreSQLConnection
    private let prepare: @Sendable (PostgreSQLConnection) throws(StorageError) -> Void
    /// A serial queue for requests to cancel: a server that does not answer blocks one thread, not one for each session.
    private let cancelling = DispatchQueue(label: "polystore-cancel")
    /// The limit of sessions without one, which ends when the pool is closed.
    private let closing: WorkLimit?

    /// - Parameters:
    ///   - patience: The times that the sessions wait for the server.
    ///   - endsOnClose: Whether closing ends the statements of sessions without a limit, which change nothing.
    ///   - open: Opens a connection.
    ///   - prepare: Prepares a connection before its first session.
    init(
        size: Int, idle: PostgreSQLIdleConnections, patience: Patience = Patience(), endsOnClose: Bool = false,
        open: @escaping @Sendable () throws -> PostgreSQLConnection,
        prepare: @escaping @Sendable (PostgreSQLConnection) throws(StorageError) -> Void
    ) {
        state = Mutex(State(free: size))
        self.idle = idle
        self.patience = patience
        self.prepare = prepare
        self.open = open
        closing = endsOnClose ? WorkLimit() : nil
    }

    /// Begins a session on a connection, after waiting for a free slot.
    ///
    /// The server may have closed an idle connection long ago. In that case nothing was done yet, and the session begins on a new one.
    /// - Parameters:
    ///   - limit: The limit of the session and of the wait.
    ///   - timeout: The maximum time to wait for a slot, in seconds.
    func begin<Session>(
        _ limit: WorkLimit?, timeout: TimeInterval, _ body: (PostgreSQLConnection) throws(StorageError) -> Session
    ) throws(StorageError) -> Session {
        try enter(limit, timeout)
        do throws(StorageError) {
            if let known = idle.take() {
                do throws(StorageError) {
                    return try begin(on: known, limit, body)
                } catch {
                    if error.code != .connectionLost { throw error }
                    // The event that closed this connection has closed the other idle ones as well.
                    idle.removeAll()
                }
            }
            return try begin(on: connect(limit), limit, body)
        } catch {
            leave()
            throw error
        }
    }

    private func begin<Session>(
        on connection: PostgreSQLConnection, _ limit: WorkLimit?, _ body: (PostgreSQLConnection) throws(StorageError) -> Session
    ) throws(StorageError) -> Session {
        connection.begin(limit ?? closing, cancelling, patience)
        if !connection.isPrepared {
            try prepare(connection)
            connection.isPrepared = true
        }
        return try body(connection)
    }

    /// Takes a connection back at the end of its session.
    ///
    /// A connection that is not as it was before is closed, which releases everything that the session still holds on the server.
    /// - Parameter ending: Ends the session. Returns false if the server did not hold what it was asked to release.
    func give(
        _ connection: PostgreSQLConnection, _ ending: (PostgreSQLConnection) throws(StorageError) -> Bool = { _ in true }
    ) {
        // A session that still exists also references the connection.
        if connection.end(ending) { idle.add(connection) } else { connection.giveUp() }
        leave()
    }

    /// Ends sessions that wait for a connection with `storeClosed`, those that begin from now on, and statements that read without a limit.
    @inline(never) func close() {
        state.withLock { state in
            state.isClosed = true
            for turn in state.waiting { turn.signal() }
        }
        closing?.cancel(StorageError(.storeClosed, "the store was closed while the server ran the statement"))
    }

    // MARK: Places

    /// Waits for a slot.
    @inline(never) private func enter(_ limit: WorkLimit?, _ timeout: TimeInterval) throws(StorageError) {
        try limit?.check()
        let turn = DispatchSemaphore(value: 0)
        let isFree = try state.withLock { state throws(StorageError) in
            if state.isClosed { throw Self.closed }
            if state.free == 0 { state.waiting.append(turn) } else { state.free -= 1 }
            return state.waiting.last !== turn
        }
        if isFree { return }
        let number = limit?.onEnd { turn.signal() }
        _ = turn.wait(timeout: .now() + timeout)
        if let number { limit?.removeInterrupt(number) }
        // A session that is no longer in the queue has received a slot.
        let (isWaiting, isClosed) = state.withLock { state in
            let place = state.waiting.firstIndex { $0 === turn }
            if let place { state.waiting.remove(at: place) }
            return (place != nil, state.isClosed)
        }
        if !isWaiting { return }
        if isClosed { throw Self.closed }
        try limit?.check()
        throw StorageError(.busy, "all connections to the server were in use for \(timeout) seconds; try again")
    }

    private static var closed: StorageError {
        StorageError(.storeClosed, "the store was closed while a session waited for a connection to the server")
    }

    @inline(never) private func leave() {
        let next = state.withLock { state -> DispatchSemaphore? in
            // The sessions that wait for a closed store were woken, and end.
            if state.waiting.isEmpty || state.isClosed {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.signal()
    }

    // MARK: Connections

    /// Opens a connection. With a limit, a separate thread opens it, and the caller stops waiting when the limit ends: libpq and name
    /// resolution cannot be interrupted.
    @inline(never) private func connect(_ limit: WorkLimit?) throws(StorageError) -> PostgreSQLConnection {
        guard let limit else { return try Self.opened(open).get().connection }
        let answer = Answer(), open = open
        let isStarted = Threads.start(named: "polystore-opens") {
            let opened = Self.opened(open)
            answer.value.withLock { $0 = opened }
            answer.isThere.signal()
        }
        // Without a thread for it, opening takes as long as it takes.
        if !isStarted { return try Self.opened(open).get().connection }
        let number = limit.onEnd { answer.isThere.signal() }
        answer.isThere.wait()
        limit.removeInterrupt(number)
        guard let opened = answer.value.withLock({ $0 }) else {
            try limit.check()
            throw StorageError(.connectionLost, "the server does not answer; check that it is running")
        }
        return try opened.get().connection
    }

    private static func opened(_ open: () throws -> PostgreSQLConnection) -> Result<Fresh, StorageError> {
        do { return .success(Fresh(connection: try open())) } catch {
            return .failure(
                error as? StorageError
                    ?? StorageError(.connectionLost, "the server does not answer; check that it is running", cause: error))
        }
    }

    /// The result of a thread that opens a connection.
    private final class Answer: Sendable {
        let value = Mutex<Result<Fresh, StorageError>?>(nil)
        let isThere = DispatchSemaphore(value: 0)
    }

    /// A new connection while it passes from the thread that opened it.
    ///
    /// Unchecked: that thread no longer accesses it.
    private struct Fresh: @unchecked Sendable {
        let connection: PostgreSQLConnection
    }
}
#endif
