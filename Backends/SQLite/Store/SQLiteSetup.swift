#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// The setup of the tables beside those of the entities: metadata, key counters and history. It creates them in a new file.
struct SQLiteSetup: SQLSetup {
    static let beginning = "BEGIN IMMEDIATE"

    /// The application ID that marks a Polystore file: "poly".
    private static let applicationID: Int64 = 0x706f_6c79

    /// The names of the tables that do not belong to the model.
    static let tables = ["polystore_metadata", "polystore_counters", "polystore_notes", "polystore_history"]

    let connection: SQLiteConnection
    let absent = StorageError(.notADatabase, "the SQLite file contains no Polystore data")

    init(_ connection: SQLiteConnection) { self.connection = connection }

    func alone<Result>(_ work: () throws(StorageError) -> Result) throws(StorageError) -> Result { try work() }

    func readEntries() throws(StorageError) -> [String: String] {
        if try connection.number("SELECT count(*) FROM sqlite_master") == 0 { return [:] }
        let isMarked = try connection.number("PRAGMA application_id") == Self.applicationID
        let found = try connection.rows("SELECT name FROM sqlite_master WHERE type <> 'trigger'", [.string]).map { $0[0].text.lowercased() }
        // Erasing a store leaves the mark and the tables of other programs.
        if isMarked, Self.tables.allSatisfy({ !found.contains($0) }) { return [:] }
        guard isMarked, found.contains("polystore_metadata") else {
            throw StorageError(.notADatabase, "the SQLite file belongs to another program: it has no Polystore metadata")
        }
        let columns: SQLText = "SELECT count(*) FROM pragma_table_xinfo('polystore_metadata', 'main') WHERE name IN ('key', 'value')"
        if try connection.number(columns) == 2 {
            let entries = try connection.entries("SELECT key, value FROM polystore_metadata")
            if StoreMetadata.isStore(entries) { return entries }
        }
        throw StorageError(
            .alreadyExists, "polystore_metadata in the SQLite file belongs to another program; use another file, or rename the table")
    }

    func create(_ metadata: StoreMetadata) throws(StorageError) {
        try connection.execute(
            """
            PRAGMA application_id = \(Self.applicationID);
            CREATE TABLE polystore_metadata(key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
            CREATE TABLE polystore_counters(root TEXT PRIMARY KEY, next INTEGER NOT NULL) STRICT, WITHOUT ROWID;
            CREATE TABLE polystore_notes(name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID;
            CREATE TABLE polystore_history(position INTEGER PRIMARY KEY, time INTEGER NOT NULL, author TEXT NOT NULL,
                changes BLOB NOT NULL) STRICT;
            """)
        let tables = SQLTables(metadata.schema, .sqlite, entityNumbers: metadata.entityNumbers)
        for statement in tables.creation() + tables.indexCreation() { try connection.execute(statement) }
    }
}
#endif
