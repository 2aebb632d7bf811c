#if PostgreSQL
internal import Synchronization

/// The open connections of a store that no session uses. All pools of the store share them: a program that alternately reads and writes
/// needs one connection.
final class PostgreSQLIdleConnections: Sendable {
    private struct State: ~Copyable {
        var connections: [PostgreSQLConnection] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Keeps a connection at the end of its session; closes it if the store was closed.
    @inline(never) func add(_ connection: PostgreSQLConnection) {
        let box = Box(connection)
        state.withLock { state in if !state.isClosed, let connection = box.connection { state.connections.append(connection) } }
    }

    /// Takes the connection that was used last; nil if there is none.
    @inline(never) func take() -> PostgreSQLConnection? {
        let box = state.withLock { Box($0.connections.popLast()) }
        return box.connection.flatMap { $0.isUsable ? $0 : nil }
    }

    /// Closes the connections.
    @inline(never) func removeAll() { state.withLock { $0.connections.removeAll() } }

    /// Closes the connections, and those that are added from now on.
    @inline(never) func close() {
        state.withLock { state in
            state.isClosed = true
            state.connections.removeAll()
        }
    }

    /// A connection while it passes through the lock.
    ///
    /// Unchecked: each connection has one owner at a time, and only the owner touches it.
    private struct Box: @unchecked Sendable {
        let connection: PostgreSQLConnection?
        init(_ connection: PostgreSQLConnection?) { self.connection = connection }
    }
}
#endif
