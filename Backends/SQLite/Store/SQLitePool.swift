#if SQLite
internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// The reading connections, opened when they are needed: no read waits for another. Some are kept.
final class SQLitePool: Sendable {
    private struct State: ~Copyable {
        var idle: [SQLiteConnection] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let kept: Int
    private let open: @Sendable () throws(StorageError) -> SQLiteConnection

    /// A pool that keeps at most so many connections that nobody uses.
    init(keeping kept: Int = 8, open: @escaping @Sendable () throws(StorageError) -> SQLiteConnection) {
        self.kept = kept
        self.open = open
    }

    /// A connection; it is used by one thread at a time, so it is in no list meanwhile.
    ///
    /// - Throws: `limitExceeded` where the process has no descriptors left.
    func take() throws(StorageError) -> SQLiteConnection {
        if let idle = state.withLock({ state in Box(state.idle.popLast()) }).connection { return idle }
        return try open()
    }

    /// Takes a connection back; one that failed is closed.
    func give(_ connection: SQLiteConnection) {
        if connection.isSuspect { return }
        let box = Box(connection)
        state.withLock { state in
            if !state.isClosed, state.idle.count < kept, let connection = box.connection { state.idle.append(connection) }
        }
    }

    /// Closes the connections that nobody uses; the others close when they come back.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.idle.removeAll()
        }
    }

    /// A connection on its way through the lock.
    ///
    /// Unchecked: the pool hands each connection to one owner at a time, and only the owner touches it.
    private struct Box: @unchecked Sendable {
        let connection: SQLiteConnection?
        init(_ connection: SQLiteConnection?) { self.connection = connection }
    }
}

/// The one writing connection and the lane that leads to it.
///
/// Unchecked: the connection is touched only by whoever holds the lane.
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

    /// The connection, for the time until `leave`.
    ///
    /// - Returns: The connection, and the options with the time that is left.
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

    /// Gives the lane to the next writer; a connection that failed is closed.
    func leave() {
        if connection?.isSuspect == true { connection = nil }
        lane.leave()
    }

    /// Closes the connection when nobody writes; a writer that is still at work closes it by ending.
    func close() {
        guard (try? lane.enter(timeout: 0)) != nil else { return }
        connection = nil
        lane.leave()
    }
}
#endif
