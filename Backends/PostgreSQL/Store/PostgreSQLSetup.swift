#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The setup of the tables beside those of the entities: metadata, key sequences and history. It creates them where they are missing.
struct PostgreSQLSetup: SQLSetup {
    static let beginning = "BEGIN"
    /// The increment of the key sequences: one round trip reserves this number of keys.
    static let keyBlock: Int64 = 1000

    let connection: PostgreSQLConnection
    let schema: String

    init(_ connection: PostgreSQLConnection, _ schema: String) {
        self.connection = connection
        self.schema = schema
    }

    var absent: StorageError { StorageError(.notFound, "the database has no Polystore data in the schema \"\(schema)\"") }

    /// Runs `work` under an advisory lock, because two programs may start at the same time: one creates the tables while the other waits.
    /// The lock is taken before the transaction begins, because the server checks for objects of other sessions only at the beginning of a
    /// transaction.
    func alone<Result>(_ work: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        let lock = Int64(bitPattern: SchemaHash(of: "polystore setup \(schema)").words[0])
        try connection.execute("SELECT pg_advisory_lock(\(lock))")
        defer { try? connection.execute("SELECT pg_advisory_unlock(\(lock))") }
        return try work()
    }

    func readEntries() throws(StorageError) -> [String: String] {
        let table = SQLText.quoted(schema) + ".polystore_metadata"
        let columns: SQLText = """
            SELECT CASE WHEN to_regclass(\(bind: .string(table), .string)) IS NULL THEN -1 ELSE (SELECT count(*) FROM pg_attribute a \
            JOIN pg_class c ON c.oid = a.attrelid WHERE c.oid = to_regclass(\(bind: .string(table), .string)) \
            AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND a.attname IN ('key', 'value') AND NOT a.attisdropped) END::int8
            """
        let count = try connection.number(columns)
        if count == -1 { return [:] }
        let entries = count == 2 ? try connection.entries("SELECT key, value FROM \(raw: table)") : nil
        if let entries, entries.isEmpty || StoreMetadata.isStore(entries) { return entries }
        throw StorageError(
            .alreadyExists,
            "the table \(table) belongs to another program; set another schema for the store with the option x-schema, or rename the table")
    }

    /// Creates the key sequences and the functions of full-text indexes that a version of the model needs, where they are missing.
    func createSequences(_ tables: SQLTables) throws(StorageError) {
        let statements = tables.schema.roots.map { root in
            "CREATE SEQUENCE IF NOT EXISTS \(SQLText.quoted(tables.keySequence(root))) INCREMENT BY \(Self.keyBlock)"
        }
        try connection.execute(statements.joined(separator: ";\n"))
        try createFunctions(tables.schema)
    }

    /// Creates the notification triggers of new tables, and notifies that the tables have changed, both with the transaction.
    func tellOfTables(_ tables: SQLTables) throws(StorageError) {
        try PostgreSQLTelling(connection, schema).make(tables)
        try connection.execute(PostgreSQLTelling.tellUnknown(schema))
    }

    /// Returns whether the schema contains a store.
    func isOurs() throws(StorageError) -> Bool { try !readEntries().isEmpty }

    func create(_ metadata: StoreMetadata) throws(StorageError) {
        let owned = try createSchema()
        try connection.execute(
            """
            CREATE TABLE polystore_metadata(key text PRIMARY KEY, value text NOT NULL);
            CREATE TABLE polystore_notes(name text COLLATE "C" PRIMARY KEY, value bytea NOT NULL);
            CREATE TABLE polystore_history(position int8 PRIMARY KEY, time int8 NOT NULL, author text NOT NULL, changes bytea NOT NULL);
            """)
        let tables = SQLTables(metadata.schema, .postgreSQL, entityNumbers: metadata.entityNumbers)
        try createSequences(tables)
        // One message for all statements: a round trip for each takes longer than the statement.
        try connection.execute((tables.creation() + tables.indexCreation()).joined(separator: ";\n"))
        try PostgreSQLTelling(connection, schema).make(tables)
        try connection.setMetadata(owned)
    }

    /// Creates the functions of full-text indexes, if there are such indexes. Existing functions are kept, because indexes were built with
    /// them.
    func createFunctions(_ model: Schema) throws(StorageError) {
        if model.descriptions.allSatisfy(\.fullTextSlots.isEmpty) { return }
        let name = "\(SQLText.quoted(schema)).\(PostgreSQLWords.lexemes)"
        let isThere: SQLText = "SELECT (to_regproc(\(bind: .string(name), .string)) IS NOT NULL)::int::int8"
        if try connection.number(isThere) == 1 { return }
        try connection.execute(PostgreSQLWords.creation(schema))
    }
}
#endif
