#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// What lies in a schema of the server beside the entities: metadata, key sequences and history. Makes them where they are missing.
struct PostgreSQLSetup {
    /// The step of the key sequences: one round trip gives so many keys.
    static let keyBlock: Int64 = 1000

    let connection: PostgreSQLConnection
    let schema: String

    init(_ connection: PostgreSQLConnection, _ schema: String) {
        self.connection = connection
        self.schema = schema
    }

    /// The metadata, and whether it was made now.
    func metadata(_ request: OpenRequest) throws(StorageError) -> (StoreMetadata, wasCreated: Bool) {
        if let found = try read() { return (found, false) }
        guard let wanted = request.schema, request.createIfMissing, !request.readOnly else {
            throw StorageError(.notFound, "the database has no Polystore data in schema \"\(schema)\"")
        }
        // Two programs may start at once: one makes the tables while the other waits. The lock is taken before the transaction begins:
        // only at its beginning a server looks anew for what others have made.
        let lock = Int64(bitPattern: SchemaHash(of: "polystore setup \(schema)").words[0])
        try connection.execute("SELECT pg_advisory_lock(\(lock))")
        defer { try? connection.execute("SELECT pg_advisory_unlock(\(lock))") }
        try connection.execute("BEGIN")
        do throws(StorageError) {
            if let found = try read() {
                try connection.execute("COMMIT")
                return (found, false)
            }
            let metadata = StoreMetadata(new: wanted)
            try create(metadata)
            try connection.execute("COMMIT")
            return (metadata, true)
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    private func read() throws(StorageError) -> StoreMetadata? {
        let entries = try readEntries()
        return entries.isEmpty ? nil : try StoreMetadata(entries: entries)
    }

    /// The metadata of a schema that has some, as texts under names.
    func entries() throws(StorageError) -> [String: String] {
        let entries = try readEntries()
        if entries.isEmpty { throw StorageError(.notFound, "the database has no Polystore data in schema \"\(schema)\"") }
        return entries
    }

    private func readEntries() throws(StorageError) -> [String: String] {
        let table = SQLText.quoted(schema) + ".polystore_metadata"
        let exists = try connection.query("SELECT (to_regclass($1::text) IS NOT NULL)::int::int8", [text(table)])
        guard exists.integer(0, 0) == 1 else { return [:] }
        let result = try connection.query("SELECT key, value FROM \(table)", [])
        let scratch = RowBatch(capacity: 1)
        var entries: [String: String] = [:]
        for row in 0..<result.count {
            if case .string(let key) = try result.value(row, 0, as: .string, scratch),
                case .string(let value) = try result.value(row, 1, as: .string, scratch)
            {
                entries[key] = value
            }
        }
        return entries
    }

    /// Writes metadata in the place of older ones of the same names.
    func write(_ entries: [String: String]) throws(StorageError) {
        for (key, value) in entries {
            _ = try connection.query(
                "INSERT INTO polystore_metadata VALUES($1::text, $2::text) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
                [text(key), text(value)])
        }
    }

    /// Makes the sequences of keys and the functions of full-text indexes that a version of the model needs, where they are missing.
    func createSequences(_ tables: SQLTables) throws(StorageError) {
        for root in tables.schema.roots {
            let name = SQLText.quoted(tables.keySequence(root))
            try connection.execute("CREATE SEQUENCE IF NOT EXISTS \(name) INCREMENT BY \(Self.keyBlock)")
        }
        try createFunctions(tables.schema)
    }

    /// Lets new tables tell of changes, and tells that the tables have changed, with the transaction.
    func tellOfTables() throws(StorageError) {
        try PostgreSQLTelling(connection, schema).make()
        try connection.execute(PostgreSQLTelling.tellUnknown(schema))
    }

    /// Whether the schema holds a store.
    func isOurs() throws(StorageError) -> Bool { try read() != nil }

    private func text(_ text: String) -> PostgreSQLParameter { PostgreSQLParameter(.value(.string(text), .string)) }

    private func create(_ metadata: StoreMetadata) throws(StorageError) {
        try connection.execute(
            """
            CREATE SCHEMA IF NOT EXISTS \(SQLText.quoted(schema));
            CREATE TABLE polystore_metadata(key text PRIMARY KEY, value text NOT NULL);
            CREATE TABLE polystore_notes(name text COLLATE "C" PRIMARY KEY, value bytea NOT NULL);
            CREATE TABLE polystore_history(position int8 PRIMARY KEY, time int8 NOT NULL, author text NOT NULL, changes bytea NOT NULL);
            """)
        let tables = SQLTables(metadata.schema, .postgreSQL, entityNumbers: metadata.entityNumbers)
        try createSequences(tables)
        for statement in tables.creation() + tables.indexCreation() { try connection.execute(statement) }
        try PostgreSQLTelling(connection, schema).make()
        try write(metadata.entries)
    }

    /// The functions of full-text indexes, where there are any. Those that are there stay: indexes were made with them.
    private func createFunctions(_ model: Schema) throws(StorageError) {
        if model.descriptions.allSatisfy(\.fullTextSlots.isEmpty) { return }
        let name = "\(SQLText.quoted(schema)).\(PostgreSQLWords.lexemes)"
        let exists = try connection.query("SELECT (to_regproc($1::text) IS NOT NULL)::int::int8", [text(name)])
        if exists.integer(0, 0) == 1 { return }
        try connection.execute(PostgreSQLWords.creation(schema))
    }
}
#endif
