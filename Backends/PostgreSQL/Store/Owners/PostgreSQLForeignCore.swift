#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The state that the sessions over the tables of another program share.
class PostgreSQLForeignCore: PostgreSQLCore, @unchecked Sendable {
    override var hasMoveNote: Bool { false }

    /// Begins a transaction. Unlike a store's own tables, these have no model version that a migration could change.
    override func begin(_ connection: PostgreSQLConnection, _ statement: String) throws(StorageError) {
        try connection.checkBackend(connection.text(statement + "; SELECT pg_backend_pid(), pg_current_snapshot()"))
    }
}
#endif
