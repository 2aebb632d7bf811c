#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// The tables of a file that another program created, which are only read.
struct SQLiteForeignTables: SQLiteOwner {
    let catalog: SQLiteCatalog

    let foreignAccess: ForeignAccess? = .readOnly
    let refusal = StorageError.isForeign
    let evidence = SQLiteWatch.Evidence.version
    let capabilities: Set<StorageCapabilities.Capability> = [
        .persistent, .multipleProcesses, .snapshotReads, .rawSQL, .remoteChanges,
    ]

    func open(_ place: SQLitePlace, _ request: OpenRequest, readOnly: Bool) throws(StorageError) -> SQLOpening<SQLiteCore> {
        try place.checkExists()
        let foreign = try SQLiteForeign(place.pinned, catalog, request)
        var metadata = foreign.metadata
        try metadata.adopt(request, recordsHistory: false)
        let writer = SQLiteWriterSeat(nil) { () throws(StorageError) in throw .isForeign }
        let core = SQLiteCore(metadata, readers: SQLitePool(open: foreign.reader), writer: writer)
        return SQLOpening(core, isReadOnly: true, remarks: foreign.remarks)
    }

    func checkOwn() throws(StorageError) { throw refusal }

    func erase(_ place: SQLitePlace, _ close: () throws(StorageError) -> Void) throws(StorageError) { throw refusal }
}
#endif
