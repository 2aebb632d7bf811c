#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// What lies in a file beside the entities: metadata, key counters and history. Makes them in a new file.
struct SQLiteSetup {
    private let connection: SQLiteConnection
    private let applicationID: Int64

    init(_ connection: SQLiteConnection, _ applicationID: Int64) {
        self.connection = connection
        self.applicationID = applicationID
    }

    /// The metadata of the file, and whether it was made now.
    func metadata(_ request: OpenRequest) throws(StorageError) -> (StoreMetadata, wasCreated: Bool) {
        if let found = try read() { return (found, false) }
        guard let schema = request.schema, request.createIfMissing, !request.readOnly else {
            throw StorageError(.notADatabase, "the SQLite file holds no Polystore data")
        }
        try connection.execute("BEGIN IMMEDIATE")
        do throws(StorageError) {
            // Another process may have made it while this one waited for the lock.
            if let found = try read() {
                try connection.execute("ROLLBACK")
                return (found, false)
            }
            let metadata = StoreMetadata(new: schema)
            try create(metadata)
            try connection.execute("COMMIT")
            return (metadata, true)
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    /// The metadata of a file that has some.
    func stored() throws(StorageError) -> StoreMetadata {
        guard let found = try read() else { throw StorageError(.notADatabase, "the SQLite file holds no Polystore data") }
        return found
    }

    /// Writes metadata in the place of what is there.
    func write(_ metadata: StoreMetadata) throws(StorageError) {
        for (key, value) in metadata.entries {
            let insert = try connection.statement(
                "INSERT OR REPLACE INTO polystore_metadata VALUES(\(bind: .string(key), .string), \(bind: .string(value), .string))"
                    as SQLText)
            let code = insert.run()
            if code != SQLITE_DONE { throw connection.error(code) }
        }
    }

    private func read() throws(StorageError) -> StoreMetadata? {
        let tables = try connection.integer("SELECT count(*) FROM sqlite_master") ?? 0
        if tables == 0 { return nil }
        guard try connection.integer("SELECT count(*) FROM sqlite_master WHERE name = 'polystore_metadata'") == 1,
            try connection.integer("PRAGMA application_id") == applicationID
        else { throw StorageError(.notADatabase, "the SQLite file belongs to another program: it has no Polystore metadata") }
        let statement = try connection.statement("SELECT key, value FROM polystore_metadata")
        defer { statement.reset() }
        var entries: [String: String] = [:]
        while try statement.step() {
            let values = try statement.values([.string, .string])
            if case .string(let key) = values[0], case .string(let value) = values[1] { entries[key] = value }
        }
        return try StoreMetadata(entries: entries)
    }

    private func create(_ metadata: StoreMetadata) throws(StorageError) {
        try connection.execute(
            """
            PRAGMA application_id = \(applicationID);
            CREATE TABLE polystore_metadata(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
            CREATE TABLE polystore_counters(root TEXT PRIMARY KEY, next INTEGER NOT NULL) STRICT, WITHOUT ROWID;
            CREATE TABLE polystore_notes(name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
            CREATE TABLE polystore_history(position INTEGER PRIMARY KEY, time INTEGER NOT NULL, author TEXT NOT NULL,
                changes BLOB NOT NULL) STRICT;
            """)
        let tables = SQLTables(metadata.schema, .sqlite, entityNumbers: metadata.entityNumbers)
        for statement in tables.creation() + tables.indexCreation() { try connection.execute(statement) }
        try write(metadata)
    }
}
#endif
