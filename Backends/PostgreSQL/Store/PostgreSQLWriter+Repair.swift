#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

extension PostgreSQLWriter: HistoryRestoringWriter {
    /// Positions of the store's own transactions are greater than the offset of the cluster, so that of a new store leaves room for others.
    func restoreHistory(_ entries: [HistoryEntry]) throws(StorageError) {
        try checkHistory()
        try flush()
        let newest = try connection.number("SELECT max(position) FROM polystore_history")
        if newest == nil { try connection.setHistoryFloor(.restored) }
        let own = try connection.number("SELECT \(raw: PostgreSQLHistory.position(core))") ?? 0
        var position = newest ?? HistoryFloor.restored.position
        for entry in entries {
            position += 1
            if entry.author.utf8.contains(0) {
                throw StorageError(
                    .valueNotStorable,
                    "the author of the transaction at position \(entry.token.position) of the archived history contains the character U+0000, "
                        + "which the server cannot store; restore without the history (--no-history), or into another kind of store")
            }
            if position >= own {
                throw StorageError(
                    .limitExceeded,
                    "the history has more transactions than the server has had, so the schema has no positions for them; close all programs "
                        + "that use the schema and restore again, or restore into a schema that does not exist, or without the history "
                        + "(--no-history)")
            }
            let changes = Data(HistoryRecorder.encode(entry.changes))
            try send(
                "INSERT INTO polystore_history VALUES($1::int8, $2::int8, $3::text, $4::bytea)",
                [
                    PostgreSQLParameter(position), PostgreSQLParameter(entry.time),
                    PostgreSQLParameter(.value(.string(entry.author), .string)), PostgreSQLParameter(.value(.data(changes), .data)),
                ])
        }
        try flush()
    }
}

extension PostgreSQLWriter: RepairingWriter {
    func rebuildIndexes(of table: String, onlyBlocked: Bool) throws(StorageError) {
        try checkOpen()
        try flush()
        let table = self.table(named: table), name = SQLText.quoted(table)
        let catalog = try PostgreSQLCatalogCheck(self)
        if table == "polystore_history" { return try makeTriggers(of: table, catalog) }
        guard let (_, link) = modelTable(table) else { return try connection.execute("REINDEX TABLE \(name)") }
        try makeKey(of: table, catalog)
        for index in core.tables.indexes() where core.tables.table(index.root) == table {
            if onlyBlocked, index.constraint == nil { continue }
            let isPrevented = try without(Self.indexScans) { () throws(StorageError) in try self.isPrevented(index, in: name) }
            if isPrevented { continue }
            if index.isTable { try PostgreSQLSetup(connection, core.schema).createFunctions(core.tables.schema) }
            try connection.execute("DROP INDEX IF EXISTS \(SQLText.quoted(index.name))")
            try connection.execute(index.creation)
        }
        if onlyBlocked { return }
        if let link {
            try connection.execute("DROP INDEX IF EXISTS \(SQLText.quoted(core.tables.memberIndex(link)))")
            try connection.execute(core.tables.createMemberIndex(link))
        }
        for index in catalog.strangers() where index.table == table && SQLTables.isIndexName(index.name) {
            try connection.execute("DROP INDEX IF EXISTS \(SQLText.quoted(index.name))")
        }
        try makeTriggers(of: table, catalog)
    }

    /// Makes the primary key of a table again and lets its columns accept no NULL, where its rows do not prevent it.
    private func makeKey(of table: String, _ catalog: PostgreSQLCatalogCheck) throws(StorageError) {
        let name = SQLText.quoted(table), columns = keyColumns(of: table)
        for (other, column) in try catalog.openColumns() where other == table {
            if try catalog.hasNull(table, [column]) { continue }
            try connection.execute("ALTER TABLE \(name) ALTER COLUMN \(SQLText.quoted(column)) SET NOT NULL")
        }
        if try catalog.hasNull(table, columns) { return }
        if try sharesKeys(table) { return }
        let key = catalog.indexes.first { $0.table == table && $0.isPrimary }
        if catalog.fault(ofPrimaryKeyOf: table, columns) == nil, let key {
            return try connection.execute("REINDEX INDEX \(SQLText.quoted(key.name))")
        }
        if let key { try connection.execute("ALTER TABLE \(name) DROP CONSTRAINT \(SQLText.quoted(key.name))") }
        try connection.execute("ALTER TABLE \(name) ADD PRIMARY KEY (\(columns.map(SQLText.quoted).joined(separator: ", ")))")
    }

    private func makeTriggers(of table: String, _ catalog: PostgreSQLCatalogCheck) throws(StorageError) {
        let isFaulty = try catalog.triggerFaults().contains { $0.table == table && $0.isMended }
        if isFaulty { try PostgreSQLTelling(connection, core.schema).remake(table, core.tables) }
    }

    func setVersion(_ entity: EntityIndex, key: Int64, to version: Int64) throws(StorageError) {
        try checkOpen()
        let schema = core.tables.schema
        try send(
            "UPDATE \(table(entity)) SET \"_version\" = $1::int8 WHERE \"_id\" = $2::int8 RETURNING \"_id\"",
            [PostgreSQLParameter(version), PostgreSQLParameter(key)]
        ) { result throws(StorageError) in
            if result.count == 1 { return }
            let name = schema.entities[entity].name
            throw StorageError(.notFound, "\(name) \(key) no longer exists", details: .init(entity: name, keys: [key]))
        }
        recorder.update(entity, key, SlotMask())
    }
}
#endif
