#if PostgreSQL
internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// Connections of one kind, opened when they are first needed and kept.
final class PostgreSQLPool: Sendable {
    private struct State: ~Copyable {
        var idle: [PostgreSQLConnection] = []
        var free: Int
        /// Those who wait for a connection, the first who came first.
        var waiting: [DispatchSemaphore] = []
        var isClosed = false
    }

    private let state: Mutex<State>
    private let open: @Sendable () throws -> PostgreSQLConnection
    /// One request to cancel after the other: a server that does not answer holds up one thread, not as many as there are sessions.
    private let cancelling = DispatchQueue(label: "polystore-cancel")

    init(size: Int, open: @escaping @Sendable () throws -> PostgreSQLConnection) {
        state = Mutex(State(free: size))
        self.open = open
    }

    /// Begins a session on a connection, waiting for one to come back.
    ///
    /// An idle connection may have been closed by the server long ago. Then nothing was done yet, and the session begins on a new one.
    /// - Parameters:
    ///   - limit: What ends the session and the waiting for it.
    ///   - timeout: Seconds to wait for a connection.
    func begin<Session>(
        _ limit: WorkLimit?, timeout: TimeInterval, _ body: (PostgreSQLConnection) throws(StorageError) -> Session
    ) throws(StorageError) -> Session {
        try enter(limit, timeout)
        do throws(StorageError) {
            if let idle = takeIdle() {
                do throws(StorageError) {
                    idle.begin(limit, cancelling)
                    return try body(idle)
                } catch {
                    if error.code != .connectionLost { throw error }
                    // What closed this one has closed the others.
                    closeIdle()
                }
            }
            let connection = try connect(limit)
            connection.begin(limit, cancelling)
            return try body(connection)
        } catch {
            leave()
            throw error
        }
    }

    /// Takes a connection back when its session is over.
    ///
    /// One that is not as it was before is closed, which frees whatever the session still holds on the server.
    /// - Parameter ending: Ends the session; false where the server had not what it was asked to give back.
    func give(
        _ connection: PostgreSQLConnection, _ ending: (PostgreSQLConnection) throws(StorageError) -> Bool = { _ in true }
    ) {
        let isSound = connection.end(ending), box = Box(isSound ? connection : nil)
        // Whoever still has the session has the connection, too.
        if !isSound { connection.giveUp() }
        state.withLock { state in if !state.isClosed, let connection = box.connection { state.idle.append(connection) } }
        leave()
    }

    @inline(never) func close() {
        state.withLock { state in
            state.isClosed = true
            state.idle.removeAll()
        }
    }

    // MARK: Places

    /// Waits for a place.
    @inline(never) private func enter(_ limit: WorkLimit?, _ timeout: TimeInterval) throws(StorageError) {
        try limit?.check()
        let turn = DispatchSemaphore(value: 0)
        let isFree = state.withLock { state in
            if state.free == 0 { state.waiting.append(turn) } else { state.free -= 1 }
            return state.waiting.last !== turn
        }
        if isFree { return }
        let number = limit?.onEnd { turn.signal() }
        _ = turn.wait(timeout: .now() + timeout)
        if let number { limit?.removeInterrupt(number) }
        // Whoever is not in the queue any more was given a place.
        let isWaiting = state.withLock { state in
            let place = state.waiting.firstIndex { $0 === turn }
            if let place { state.waiting.remove(at: place) }
            return place != nil
        }
        if !isWaiting { return }
        try limit?.check()
        throw StorageError(.busy, "all connections to the server were in use for \(timeout) seconds; try again")
    }

    @inline(never) private func leave() {
        let next = state.withLock { state -> DispatchSemaphore? in
            if state.waiting.isEmpty {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.signal()
    }

    // MARK: Connections

    /// A connection that nobody uses, to be used outside of the pool's places.
    @inline(never) func takeIdle() -> PostgreSQLConnection? {
        let box = state.withLock { Box($0.idle.popLast()) }
        return box.connection.flatMap { $0.isUsable ? $0 : nil }
    }

    @inline(never) private func closeIdle() { state.withLock { $0.idle.removeAll() } }

    /// Makes a connection. With a limit a thread does it that nobody waits for when the limit ends: libpq and the resolution of names do not
    /// end before their own time.
    @inline(never) private func connect(_ limit: WorkLimit?) throws(StorageError) -> PostgreSQLConnection {
        guard let limit else { return try Self.opened(open).get().connection }
        let answer = Answer(), open = open
        Thread.detachNewThread {
            let opened = Self.opened(open)
            answer.value.withLock { $0 = opened }
            answer.isThere.signal()
        }
        let number = limit.onEnd { answer.isThere.signal() }
        answer.isThere.wait()
        limit.removeInterrupt(number)
        guard let opened = answer.value.withLock({ $0 }) else {
            try limit.check()
            throw StorageError(.connectionLost, "the server does not answer")
        }
        return try opened.get().connection
    }

    private static func opened(_ open: () throws -> PostgreSQLConnection) -> Result<Fresh, StorageError> {
        do { return .success(Fresh(connection: try open())) } catch {
            return .failure(error as? StorageError ?? StorageError(.connectionLost, "the server does not answer", cause: error))
        }
    }

    /// What a thread that connects has to say.
    private final class Answer: Sendable {
        let value = Mutex<Result<Fresh, StorageError>?>(nil)
        let isThere = DispatchSemaphore(value: 0)
    }

    /// A new connection on its way from the thread that made it.
    ///
    /// Unchecked: that thread does not touch it any more.
    private struct Fresh: @unchecked Sendable {
        let connection: PostgreSQLConnection
    }

    /// A connection on its way through the lock.
    ///
    /// Unchecked: the pool hands each connection to one owner at a time, and only the owner touches it.
    private struct Box: @unchecked Sendable {
        let connection: PostgreSQLConnection?
        init(_ connection: PostgreSQLConnection?) { self.connection = connection }
    }
}
#endif
