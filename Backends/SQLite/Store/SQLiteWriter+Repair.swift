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
    func rebuildIndexes(of table: String, onlyBlocked: Bool) throws(StorageError) {
        try checkOpen()
        beside.quietly()
        let table = self.table(named: table)
        guard let (_, link) = modelTable(table) else { return try rebuildOthers(of: table) }
        if !onlyBlocked { try removeStrangers(of: table) }
        for index in core.tables.indexes() where core.tables.table(index.root) == table {
            if onlyBlocked, index.constraint == nil { continue }
            if try !isPrevented(index, in: Self.rows(of: table)) { try make(index) }
        }
        guard let link, !onlyBlocked else { return }
        try connection.execute("DROP INDEX IF EXISTS main.\(SQLText.quoted(core.tables.memberIndex(link)))")
        try connection.execute(core.tables.createMemberIndex(link))
    }

    private func make(_ index: SQLTables.IndexStatement) throws(StorageError) {
        for trigger in index.triggers { try connection.execute("DROP TRIGGER IF EXISTS main.\(SQLText.quoted(trigger))") }
        if index.isTable {
            try removeWords(index.name)
        } else {
            try connection.execute("DROP INDEX IF EXISTS main.\(SQLText.quoted(index.name))")
        }
        try connection.execute(index.creation)
    }

    /// Removes a full-text index, which is a table of its own.
    private func removeWords(_ name: String) throws(StorageError) {
        do throws(StorageError) { try connection.execute("DROP TABLE IF EXISTS main.\(SQLText.quoted(name))") } catch {
            if error.code != .corrupted, error.code != .inputOutput { throw error }
            // The engine does not remove a virtual table whose parts are damaged. Without its definition they are ordinary tables.
            let literal = "'\(SQLText.doubling("'", in: name))'"
            try connection.execute(
                "PRAGMA writable_schema = ON; DELETE FROM main.sqlite_master WHERE type = 'table' AND name = \(literal); "
                    + "PRAGMA writable_schema = RESET")
        }
        // https://sqlite.org/fts5.html#fts5_data_structures
        for part in ["data", "idx", "docsize", "config", "content"] {
            try connection.execute("DROP TABLE IF EXISTS main.\(SQLText.quoted("\(name)_\(part)"))")
        }
    }

    /// Removes the indexes and triggers of a table that have names of the model's but do not belong to it.
    private func removeStrangers(of table: String) throws(StorageError) {
        for found in try strangeDefinitions() where found.table == table && SQLTables.isIndexName(found.name) {
            try connection.execute("DROP \(found.kind.uppercased()) main.\(SQLText.quoted(found.name))")
        }
    }

    /// Lets the engine build the indexes of another program's table again, except unique ones, which its rows can prevent.
    private func rebuildOthers(of table: String) throws(StorageError) {
        let text: SQLText = """
            SELECT name FROM pragma_index_list(\(bind: .string(table), .string), 'main') WHERE "unique" = 0
            """
        for row in try connection.rows(text, [.string]) { try connection.execute("REINDEX main.\(SQLText.quoted(row[0].text))") }
    }

    func setVersion(_ entity: EntityIndex, key: Int64, to version: Int64) throws(StorageError) {
        try checkOpen()
        let table = SQLText.quoted(core.tables.table(entity))
        let statement = try connection.statement("UPDATE \(table) SET \"_version\" = ?1 WHERE \"_id\" = ?2")
        statement.bind(.int(version), at: 1)
        statement.bind(.int(key), at: 2)
        try check(statement.run(), entity)
        if connection.changes != 1 { throw try missing(entity, key, nil) }
        recorder.update(entity, key, SlotMask())
    }
}
#endif
