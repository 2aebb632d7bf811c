#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// The tables of a file that Polystore created.
struct SQLiteOwnTables: SQLiteOwner {
    let recordsHistory: Bool

    let foreignAccess: ForeignAccess? = nil
    let evidence = SQLiteWatch.Evidence.ledger

    var capabilities: Set<StorageCapabilities.Capability> {
        var supported: Set<StorageCapabilities.Capability> = [
            .persistent, .multipleProcesses, .snapshotReads, .savepoints, .migrations, .durableCommits, .rawSQL, .partialIndexes,
            .remoteChanges,
        ]
        if SQLFullText.sqlite != nil { supported.insert(.fullTextIndexes) }
        if recordsHistory { supported.insert(.history) }
        return supported
    }

    func open(_ place: SQLitePlace, _ request: OpenRequest, readOnly: Bool) throws(StorageError) -> SQLOpening<SQLiteCore> {
        let (connection, pinned, found) = try SQLiteCatalog.hinting { () throws(StorageError) in
            let connection = try place.writer(readOnly: readOnly, create: true), pinned = place.pinned
            return (connection, pinned, try SQLiteSetup(connection).metadata(request))
        }
        var (metadata, wasCreated) = found
        try metadata.adopt(request, recordsHistory: recordsHistory)
        let flush = place.durability == .full ? SQLiteLogFlush(empty: pinned.emptyLog) : nil
        let writer = SQLiteWriterSeat(readOnly ? nil : connection, flush: flush) { () throws(StorageError) in
            try pinned.writer(readOnly: false, create: false)
        }
        let core = SQLiteCore(metadata, readers: SQLitePool(open: pinned.reader), writer: writer)
        return SQLOpening(core, isReadOnly: readOnly, wasCreated: wasCreated)
    }

    func checkOwn() {}

    func erase(_ place: SQLitePlace, _ close: () throws(StorageError) -> Void) throws(StorageError) {
        try close()
        try SQLiteErasure(place).run()
    }
}
#endif
