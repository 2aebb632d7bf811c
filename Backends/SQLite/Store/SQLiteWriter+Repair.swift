#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLiteWriter: HistoryRestoringWriter {
    func restoreHistory(_ entries: [HistoryEntry]) throws(StorageError) {
        try checkHistory()
        beside.quietly()
        let history = SQLiteHistory(core, connection)
        if try connection.newestPosition(in: "polystore_history") == nil { try connection.setHistoryFloor(.restored) }
        for entry in entries {
            _ = try history.add(entry.time, entry.author, HistoryRecorder.encode(entry.changes), isFirst: false)
        }
    }
}

extension SQLiteWriter: RepairingWriter {
    func rebuildIndexes(of table: String) throws(StorageError) {
        try checkOpen()
        beside.quietly()
        let table = self.table(named: table)
        try connection.execute("REINDEX main.\(SQLText.quoted(table))")
        // A full-text index is a table of its own.
        for index in core.tables.indexes() where index.isTable && core.tables.table(index.root) == table {
            try connection.execute(index.removal)
            try connection.execute(index.creation)
        }
    }
}
#endif
