#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The tables of a schema that another program created, which are only read. Observers are not notified, because the server's other clients
/// do not use Polystore.
struct PostgreSQLForeignTables: PostgreSQLOwner {
    let capabilities: Set<StorageCapabilities.Capability> = [.persistent, .multipleProcesses, .snapshotReads, .rawSQL]
    let foreignAccess: ForeignAccess? = .readOnly
    let refusal = StorageError.isForeign

    func open(_ store: PostgreSQLStore, _ request: OpenRequest) throws(StorageError) -> StorageState {
        let foreign = try PostgreSQLForeign(conninfo: store.conninfo, schema: store.schema, request)
        var metadata = foreign.metadata
        try metadata.adopt(request, recordsHistory: false)
        let core = PostgreSQLForeignCore(
            metadata, schema: store.schema, durability: store.durability, readers: store.readerCount,
            readTimeout: store.readTimeout, open: foreign.reader)
        return store.keep(SQLOpening(core, isReadOnly: true, remarks: foreign.remarks))
    }

    func checkOwn() throws(StorageError) { throw refusal }

    func erase(_ store: PostgreSQLStore) throws(StorageError) { throw refusal }
}
#endif
