#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// The tables of a file that another program created, which are read and written in place.
struct SQLiteInPlaceTables: SQLiteOwner {
    let evidence = SQLiteWatch.Evidence.log
    let foreignAccess: ForeignAccess? = .inPlace
    let capabilities: Set<StorageCapabilities.Capability> = [
        .persistent, .multipleProcesses, .snapshotReads, .savepoints, .history, .durableCommits, .rawSQL, .remoteChanges,
    ]

    /// Returns no options, because the data beside the tables of another program is not a store that may be created again.
    func localStorageOptions(_ options: LocalStorageOptions) -> LocalStorageOptions { [] }

    func open(_ place: SQLitePlace, _ request: OpenRequest, readOnly: Bool) throws(StorageError) -> SQLOpening<SQLiteCore> {
        try place.checkExists()
        let inPlace = try SQLiteInPlace(place.pinned, request, readOnly: readOnly)
        var metadata = inPlace.metadata
        // The triggers record changes whatever the program requests.
        try metadata.adopt(request, recordsHistory: true)
        let writer = SQLiteWriterSeat(nil, open: inPlace.writer)
        let core = SQLiteInPlaceCore(metadata, readers: SQLitePool(open: inPlace.reader), writer: writer, inPlace)
        return SQLOpening(core, isReadOnly: readOnly, remarks: inPlace.remarks)
    }

    func checkOwn() throws(StorageError) { throw .isNotOurs }

    func erase(_ place: SQLitePlace, _ close: () throws(StorageError) -> Void) throws(StorageError) {
        try close()
        try SQLiteInPlace.remove(place)
    }
}
#endif
