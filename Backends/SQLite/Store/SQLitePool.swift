#if SQLite
internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// A pool of reading connections, which are opened on demand, so that no read waits for another. The pool keeps some of them open.
final class SQLitePool: Sendable {
    private struct State: ~Copyable {
        var idle: [SQLiteConnection] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let kept: Int
    private let open: @Sendable () throws(StorageError) -> SQLiteConnection

    /// Creates a pool that keeps at most `kept` idle connections.
    init(keeping kept: Int = 8, open: @escaping @Sendable () throws(StorageError) -> SQLiteConnection) {
        self.kept = kept
        self.open = open
    }

    /// Takes a connection from the pool. It is used by one thread at a time, so the pool does not list it meanwhile.
    ///
    /// - Throws: `limitExceeded` if the process has no file descriptors left.
    func take() throws(StorageError) -> SQLiteConnection {
        if let idle = state.withLock({ state in Box(state.idle.popLast()) }).connection { return idle }
        return try open()
    }

    /// Returns a connection to the pool. A connection that failed is closed.
    func give(_ connection: SQLiteConnection) {
        if connection.isSuspect { return }
        let box = Box(connection)
        state.withLock { state in
            if !state.isClosed, state.idle.count < kept, let connection = box.connection { state.idle.append(connection) }
        }
    }

    /// Closes the idle connections. The others are closed when they are returned.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.idle.removeAll()
        }
    }

    /// A connection while it passes through the lock.
    ///
    /// Unchecked: the pool hands each connection to one owner at a time, and only the owner touches it.
    private struct Box: @unchecked Sendable {
        let connection: SQLiteConnection?
        init(_ connection: SQLiteConnection?) { self.connection = connection }
    }
}

/// The writing connection and the queue of its writers.
///
/// Unchecked: only the current writer accesses the connection.
final class SQLiteWriterSeat: @unchecked Sendable {
    private let lane = WriteLane()
    private var connection: SQLiteConnection?
    private let open: @Sendable () throws(StorageError) -> SQLiteConnection

    /// The commits of this store.
    var commits: OwnCommits { lane.commits }

    init(_ first: SQLiteConnection?, open: @escaping @Sendable () throws(StorageError) -> SQLiteConnection) {
        connection = first
        self.open = open
    }

    /// Waits for the connection and returns it, for use until `leave`.
    ///
    /// - Returns: The connection, and the options with the remaining time.
    func enter(_ options: WriteOptions) throws(StorageError) -> (SQLiteConnection, WriteOptions) {
        let rest = try lane.enter(options)
        if let connection { return (connection, rest) }
        do throws(StorageError) {
            let opened = try open()
            connection = opened
            return (opened, rest)
        } catch {
            lane.leave()
            throw error
        }
    }

    /// Passes the connection to the next writer. A connection that failed is closed.
    func leave() {
        if connection?.isSuspect == true { connection = nil }
        lane.leave()
    }

    /// Closes the connection if there is no writer. A writer that is still active closes it when it ends.
    func close() {
        guard (try? lane.enter(timeout: 0)) != nil else { return }
        connection = nil
        lane.leave()
    }
}
#endif
