#if PostgreSQL
internal import PolystoreSQL
public import PolystoreStorage
internal import Synchronization

extension PostgreSQLStore: ForeignStorage {
    /// Opens a schema that another program made. Nobody is told: the server's other clients are none of ours.
    func openForeign(_ request: OpenRequest) throws(StorageError) -> StorageState {
        let foreign = try PostgreSQLForeign(conninfo: conninfo, schema: schema)
        var metadata = foreign.metadata
        try metadata.adopt(request, recordsHistory: false)
        let opened = PostgreSQLCore(metadata, schema: schema, durability: durability, isForeign: true, readers: readerCount) {
            try foreign.reader()
        }
        core.withLock { $0 = opened }
        isReadOnlyNow.store(true, ordering: .releasing)
        foreignRemarks.withLock { $0 = foreign.remarks }
        return StorageState(
            storeID: metadata.storeID, schema: metadata.schema, formatVersion: metadata.formatVersion, wasCreated: false)
    }

    /// Opens a schema that another program made, to read and write its tables.
    func openInPlace(_ request: OpenRequest) throws(StorageError) -> StorageState {
        let readOnly = request.readOnly || isReadOnly
        let inPlace = try PostgreSQLInPlace(conninfo: conninfo, schema: schema, durability: durability, readOnly: readOnly)
        var metadata = inPlace.metadata
        // What lies beside the tables records whatever the program says.
        try metadata.adopt(request, recordsHistory: true)
        let opened = PostgreSQLCore(
            metadata, schema: schema, durability: durability, tables: inPlace.views, isForeign: true, inPlace: inPlace, readers: readerCount
        ) { try inPlace.connection() }
        core.withLock { $0 = opened }
        isReadOnlyNow.store(readOnly, ordering: .releasing)
        foreignRemarks.withLock { $0 = inPlace.remarks }
        return StorageState(
            storeID: metadata.storeID, schema: metadata.schema, formatVersion: metadata.formatVersion, wasCreated: false)
    }

    /// What of a schema of another program is left out or read otherwise than it is declared there.
    public var remarks: [String] { foreignRemarks.withLock { $0 } }

    /// Refuses what is done to tables of our own alone.
    func checkOwn() throws(StorageError) {
        switch catalog {
        case .own: return
        case .inPlace: throw .isNotOurs
        case .foreign: throw .isForeign
        }
    }
}
#endif
