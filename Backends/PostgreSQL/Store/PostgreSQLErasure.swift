#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// Removal of a Polystore store from a schema, without any objects of other programs.
extension PostgreSQLSetup {
    /// The key of the metadata entry that marks the schema as created for the store.
    private static let ownsSchemaKey = "ownsSchema"
    /// The tables and sequences that do not belong to the model.
    private static let own = ["polystore_metadata", "polystore_notes", "polystore_history", "polystore_watched"]
    /// The names of the functions, as a regular expression of the server. Names of other functions may begin in the same way.
    private static let functionNames = "^polystore_(tell|watch|words|lexemes|rolling_(write|delete)_[0-9]+)$"

    /// Creates the schema if it does not exist.
    ///
    /// - Returns: The metadata entries about the schema.
    func createSchema() throws(StorageError) -> [String: String] {
        let isThere: SQLText = "SELECT count(*) FROM pg_namespace WHERE nspname = \(bind: .string(schema), .string)"
        if try connection.number(isThere) == 1 { return [:] }
        try connection.execute("CREATE SCHEMA \(SQLText.quoted(schema))")
        return [Self.ownsSchemaKey: "1"]
    }

    /// Drops the tables, sequences and functions of the store, and the schema if it was created for the store and is otherwise empty.
    ///
    /// - Parameter ifUnused: Whether nothing is dropped if a table has a row, or a transaction inserts one before all tables are locked.
    /// - Throws: `unsupported` if another object depends on a table, for example a view or a foreign key of another program. Nothing is
    ///   dropped then.
    func erase(ifUnused: Bool = false) throws(StorageError) {
        let entries = try entries(), names = try relations(entries)
        try connection.inTransaction(Self.beginning) { () throws(StorageError) in
            if ifUnused, try isUsed(relations("r", names.filter { $0 != "polystore_metadata" && $0 != "polystore_notes" })) { return }
            for kind in [("r", "TABLE"), ("S", "SEQUENCE")] {
                let found = try relations(kind.0, names)
                if !found.isEmpty { try connection.execute("DROP \(kind.1) \(found.joined(separator: ", "))") }
            }
            try PostgreSQLTelling(connection, schema).removeTriggers()
            let functions = try functions()
            if !functions.isEmpty { try connection.execute("DROP FUNCTION \(functions.joined(separator: ", "))") }
            if entries[Self.ownsSchemaKey] != nil, try isEmpty() { try connection.execute("DROP SCHEMA \(SQLText.quoted(schema))") }
            try connection.execute(PostgreSQLEvent.notify([.erased], schema))
        }
    }

    /// Returns the names of the tables and sequences of the model, and of the newer version during an online migration.
    private func relations(_ entries: [String: String]) throws(StorageError) -> [String] {
        let metadata = try StoreMetadata(entries: entries)
        var models = [SQLTables(metadata.schema, .postgreSQL, entityNumbers: metadata.entityNumbers)]
        if let next = try RollingRecord(entries) { models.append(SQLTables(next.schema, .postgreSQL, entityNumbers: [])) }
        return Self.own
            + models.flatMap { tables in
                tables.tableNames + tables.schema.roots.map { tables.keySequence($0) }
            }
    }

    /// Returns the existing relations among the names, as quoted SQL names. A sequence that belongs to a column is dropped with its table.
    private func relations(_ kind: String, _ names: [String]) throws(StorageError) -> [String] {
        let named = SQLText.joined(names.map { "\(bind: .string($0), .string)" }, ", ")
        return try connection.rows(
            """
            SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
            WHERE n.nspname = \(bind: .string(schema), .string) AND c.relkind::text = \(bind: .string(kind), .string) \
            AND c.relname IN (\(named)) AND NOT EXISTS (SELECT FROM pg_depend d \
            WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype IN ('a', 'i')) ORDER BY 1
            """, [.string]
        ).map { $0[0].text }
    }

    private func functions() throws(StorageError) -> [String] {
        try connection.rows(
            """
            SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace \
            WHERE n.nspname = \(bind: .string(schema), .string) AND p.proname ~ \(bind: .string(Self.functionNames), .string) ORDER BY 1
            """, [.string]
        ).map { $0[0].text }
    }

    /// Returns whether any of the tables has a row, or there is a note that the store has not written itself, other than that of a copy which
    /// has not begun. Locks the tables until the
    /// end of the transaction.
    private func isUsed(_ tables: [String]) throws(StorageError) -> Bool {
        let notes = "\(SQLText.quoted(schema)).polystore_notes"
        try connection.execute("LOCK TABLE \((tables + [notes]).joined(separator: ", ")) IN ACCESS EXCLUSIVE MODE")
        if try connection.query("SELECT 1::int8 FROM \(notes) WHERE name NOT IN (\(Self.noteName), '\(CopyNote.incomplete)') LIMIT 1", [])
            .count > 0
        {
            return true
        }
        for table in tables where try connection.query("SELECT 1::int8 FROM \(table) LIMIT 1", []).count > 0 { return true }
        return false
    }

    private func isEmpty() throws(StorageError) -> Bool {
        let count: SQLText =
            """
            SELECT count(*) FROM pg_depend d JOIN pg_namespace n ON d.refclassid = 'pg_namespace'::regclass AND d.refobjid = n.oid \
            WHERE n.nspname = \(bind: .string(schema), .string)
            """
        return try connection.number(count) == 0
    }
}
#endif
