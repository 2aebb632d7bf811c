#if SQLite
internal import PolystoreFoundation
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
#endif
