#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// The tables of a schema that another program created, which are read and written in place.
struct PostgreSQLInPlaceTables: PostgreSQLOwner {
    let foreignAccess: ForeignAccess? = .inPlace
    let capabilities: Set<StorageCapabilities.Capability> = [
        .persistent, .multipleProcesses, .concurrentWriters, .snapshotReads, .savepoints, .history, .durableCommits, .rawSQL,
    ]

    func open(_ store: PostgreSQLStore, _ request: OpenRequest) throws(StorageError) -> StorageState {
        let readOnly = request.readOnly || store.isReadOnly
        let inPlace = try PostgreSQLInPlace(
            conninfo: store.conninfo, schema: store.schema, durability: store.durability, request, readOnly: readOnly)
        var metadata = inPlace.metadata
        // The triggers record changes whatever the program requests.
        try metadata.adopt(request, recordsHistory: true)
        let core = PostgreSQLInPlaceCore(
            metadata, schema: store.schema, durability: store.durability, readers: store.readerCount,
            readTimeout: store.readTimeout, inPlace)
        return store.keep(SQLOpening(core, isReadOnly: readOnly, remarks: inPlace.remarks))
    }

    func checkOwn() throws(StorageError) { throw .isNotOurs }

    func erase(_ store: PostgreSQLStore) throws(StorageError) {
        try store.close()
        try PostgreSQLInPlace.remove(conninfo: store.conninfo, schema: store.schema)
    }
}

/// The state that the sessions over the tables of another program share.
private final class PostgreSQLInPlaceCore: PostgreSQLForeignCore, @unchecked Sendable {
    private let inPlace: PostgreSQLInPlace

    init(
        _ metadata: StoreMetadata, schema: String, durability: Durability, readers: Int, readTimeout: Duration?,
        _ inPlace: PostgreSQLInPlace
    ) {
        self.inPlace = inPlace
        super.init(
            metadata, schema: schema, durability: durability, tables: inPlace.views, readers: readers, readTimeout: readTimeout,
            historyOffset: inPlace.historyOffset, cluster: inPlace.cluster, open: inPlace.connection)
    }

    /// Begins a transaction, unless tables were changed without Polystore's knowledge: versions that this program knows may then be wrong.
    override func begin(_ connection: PostgreSQLConnection, _ statement: String) throws(StorageError) {
        guard let watch = inPlace.watch else { return try super.begin(connection, statement) }
        let found = try connection.texts(statement + "; SELECT pg_backend_pid(), \(watch.state), \(watch.answers)")
        guard found.count == 3, found[1] == watch.found else { throw PostgreSQLInPlace.wasChanged() }
        inPlace.answers.withLock { $0.text = found[2] ?? "" }
        try connection.checkBackend(found[0])
    }

    override func reader(_ connection: PostgreSQLConnection, of pool: PostgreSQLPool) -> PostgreSQLReader {
        PostgreSQLInPlaceReader(self, connection, inPlace, of: pool)
    }

    override func session(_ lane: PostgreSQLLane, _ options: WriteOptions, isSettled: Bool) -> any StorageWriter {
        PostgreSQLInPlaceWriter(lane, inPlace)
    }
}
#endif
