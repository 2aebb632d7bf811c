#if SQLite
internal import Foundation
internal import PolystoreStorage
internal import Synchronization

/// The reading connections, opened when they are first needed and kept.
final class SQLitePool: Sendable {
    private struct State: ~Copyable {
        var idle: [SQLiteConnection] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let places: DispatchSemaphore
    private let timeout: TimeInterval
    private let open: @Sendable () throws -> SQLiteConnection

    /// A pool of at most `size` connections.
    init(size: Int, timeout: TimeInterval, open: @escaping @Sendable () throws -> SQLiteConnection) {
        places = DispatchSemaphore(value: size)
        self.timeout = timeout
        self.open = open
    }

    /// A connection, waiting for one to come back.
    ///
    /// - Throws: `busy` after the pool's timeout.
    func take() throws(StorageError) -> SQLiteConnection {
        guard places.wait(timeout: .now() + timeout) == .success else {
            throw StorageError(.busy, "all reading connections were in use for \(timeout) seconds; end reads earlier")
        }
        // A connection is used by one thread at a time: it leaves the list while it is in use.
        let box = state.withLock { state in Box(state.idle.popLast()) }
        if let idle = box.connection { return idle }
        do { return try open() } catch let error as StorageError {
            places.signal()
            throw error
        } catch {
            places.signal()
            throw StorageError(.inputOutput, "the database file cannot be opened", cause: error)
        }
    }

    /// Takes a connection back.
    func give(_ connection: SQLiteConnection) {
        let box = Box(connection)
        state.withLock { state in if !state.isClosed, let connection = box.connection { state.idle.append(connection) } }
        places.signal()
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
    func enter(timeout: TimeInterval) throws(StorageError) -> SQLiteConnection {
        try lane.enter(timeout: timeout)
        if let connection { return connection }
        do throws(StorageError) {
            let opened = try open()
            connection = opened
            return opened
        } catch {
            lane.leave()
            throw error
        }
    }

    func leave() { lane.leave() }

    /// Closes the connection when nobody writes; a writer that is still at work closes it by ending.
    func close() {
        guard (try? lane.enter(timeout: 0)) != nil else { return }
        connection = nil
        lane.leave()
    }
}
#endif
