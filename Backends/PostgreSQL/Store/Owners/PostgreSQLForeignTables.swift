#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The tables of a schema that another program has made, which are only read. Nobody is told: the server's other clients are none of ours.
struct PostgreSQLForeignTables: PostgreSQLOwner {
    let capabilities: Set<StorageCapabilities.Capability> = [.persistent, .multipleProcesses, .snapshotReads, .rawSQL]
    let refusal = StorageError.isForeign

    func open(_ store: PostgreSQLStore, _ request: OpenRequest) throws(StorageError) -> StorageState {
        let foreign = try PostgreSQLForeign(conninfo: store.conninfo, schema: store.schema)
        var metadata = foreign.metadata
        try metadata.adopt(request, recordsHistory: false)
        let core = PostgreSQLForeignCore(
            metadata, schema: store.schema, durability: store.durability, readers: store.readerCount, open: foreign.reader)
        return store.keep(SQLOpening(core, isReadOnly: true, remarks: foreign.remarks))
    }

    func checkOwn() throws(StorageError) { throw refusal }

    func erase(_ store: PostgreSQLStore) throws(StorageError) { throw refusal }
}

/// What the sessions over the tables of another program share.
class PostgreSQLForeignCore: PostgreSQLCore, @unchecked Sendable {
    /// No version of a model lies there that a migration could change.
    override func begin(_ connection: PostgreSQLConnection, _ statement: String) throws(StorageError) {
        try connection.checkBackend(connection.text(statement + "; SELECT pg_backend_pid(), pg_current_snapshot()"))
    }
}
#endif
