#if SQLite
internal import CSQLite
internal import PolystoreStorage

/// The state of a connection's transaction that the engine does not keep.
struct SQLiteTransaction {
    /// The limit of its statements and waits.
    let limit: WorkLimit?
    /// The number under which the limit can interrupt the connection.
    var interrupt: Int?
    /// The error that made the engine roll back the transaction. The engine does so by itself after some failures, and would then commit
    /// each following statement by itself.
    var failure: StorageError?
}
#endif
