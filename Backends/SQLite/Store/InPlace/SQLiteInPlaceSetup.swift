#if SQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// The setup of Polystore's own tables beside those of another program: versions, the change log, and the triggers that maintain both for
/// every writer.
struct SQLiteInPlaceSetup {
    private static let creation = """
        CREATE TABLE IF NOT EXISTS main.polystore_inplace(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS main.polystore_versions(source TEXT NOT NULL, "key" INTEGER NOT NULL, version INTEGER NOT NULL,
            PRIMARY KEY(source, "key")) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS main.polystore_log(position INTEGER PRIMARY KEY AUTOINCREMENT, time INTEGER NOT NULL,
            source TEXT NOT NULL, "key" INTEGER NOT NULL, kind TEXT NOT NULL, changed TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS main.polystore_commits(position INTEGER PRIMARY KEY, first INTEGER NOT NULL, time INTEGER NOT NULL,
            author TEXT NOT NULL);
        CREATE TABLE IF NOT EXISTS main.polystore_notes(name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS main.polystore_keys(source TEXT PRIMARY KEY, next INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE IF NOT EXISTS main.polystore_replaced(source TEXT NOT NULL, "key" INTEGER NOT NULL, PRIMARY KEY(source, "key")) WITHOUT ROWID;
        INSERT OR IGNORE INTO main.polystore_inplace VALUES('epoch', '0');
        INSERT OR REPLACE INTO main.polystore_inplace VALUES('format', '\(InPlaceIdentity.format)');
        """

    private static let tables = ["inplace", "versions", "log", "commits", "notes", "keys", "replaced"]
    /// The prefix of the names of tables with triggers in `polystore_inplace`.
    private static let watched = "triggers."

    private let connection: SQLiteConnection
    /// The statements that create the triggers of each table, by trigger name.
    private let triggers: [String: [String: String]]

    init(_ connection: SQLiteConnection, _ tables: InPlaceTables) throws(StorageError) {
        self.connection = connection
        var triggers: [String: [String: String]] = [:]
        let rows = SQLiteCatalogRows(connection)
        for table in tables.tables {
            let made = SQLiteInPlaceTriggers.triggers(table, unique: try rows.uniqueColumns(table.name))
            triggers[table.name] = Dictionary(made, uniquingKeysWith: { first, _ in first })
        }
        for pairs in tables.pairs {
            triggers[pairs.name] = Dictionary(SQLiteInPlaceTriggers.triggers(pairs), uniquingKeysWith: { first, _ in first })
        }
        self.triggers = triggers
    }

    /// Returns the identity of the store, or nil if it was never written to in place.
    static func storeID(_ connection: SQLiteConnection) throws(StorageError) -> UUID? {
        let known: SQLText = "SELECT count(*) FROM main.sqlite_master WHERE type = 'table' AND name = 'polystore_inplace'"
        if try connection.number(known) != 1 { return nil }
        return try InPlaceIdentity.storeID(connection.entries("SELECT name, value FROM main.polystore_inplace"))
    }

    private func entries() throws(StorageError) -> [String: String] {
        try Self.storeID(connection) == nil ? [:] : try connection.entries("SELECT name, value FROM main.polystore_inplace")
    }

    /// Creates missing tables and triggers in one transaction. Writes nothing if all exist.
    func install() throws(StorageError) {
        if try isInstalled(), try late().isEmpty { return }
        try connection.inTransaction("BEGIN IMMEDIATE") { () throws(StorageError) in
            let before = try entries(), format = before["format"]
            try connection.execute(Self.creation)
            try connection.execute("INSERT OR IGNORE INTO main.polystore_inplace VALUES('store', '\(UUID().uuidString)')")
            // The triggers of an older format did not record every change.
            var isGap = format != nil && format != "\(InPlaceIdentity.format)"
            let there = try Self.present(connection), late = try late()
            for (table, wanted) in triggers.sorted(by: { $0.key < $1.key }) where there[table] != wanted || late.contains(table) {
                // A table that was renamed has the triggers of its old name.
                if there[table] != wanted, before[Self.watched + table] != nil || there[table] != nil { isGap = true }
                for name in there[table, default: [:]].keys { try connection.execute(Self.drop(name)) }
            }
            // Tables that are no longer objects or have been renamed.
            for (table, names) in there where triggers[table] == nil { for name in names.keys { try connection.execute(Self.drop(name)) } }
            for (table, wanted) in triggers.sorted(by: { $0.key < $1.key }) where there[table] != wanted || late.contains(table) {
                for statement in wanted.sorted(by: { $0.key < $1.key }) { try connection.execute(statement.value) }
                try connection.run(
                    "INSERT OR REPLACE INTO main.polystore_inplace VALUES(\(bind: .string(Self.watched + table), .string), '')")
            }
            if isGap { try endHistory() }
        }
    }

    /// Ends the history here: older tokens expire, and open stores have to be opened again, because the versions that they know may be
    /// wrong.
    private func endHistory() throws(StorageError) {
        try connection.execute(
            """
            INSERT INTO main.polystore_log(time, source, "key", kind, changed) VALUES(0, '', 0, '', '');
            UPDATE main.polystore_inplace SET value = CAST(value AS INTEGER) + 1 WHERE name = 'epoch';
            """)
        let position = try connection.number("SELECT max(position) FROM main.polystore_log") ?? 0
        try connection.beginHistory(["main.polystore_log", "main.polystore_commits"], after: position)
    }

    /// Removes all of Polystore's own tables and triggers in one transaction. The tables of the other program are not changed.
    static func remove(_ connection: SQLiteConnection) throws(StorageError) {
        try connection.inTransaction("BEGIN IMMEDIATE") { () throws(StorageError) in
            for name in try present(connection).values.flatMap(\.keys) { try connection.execute(drop(name)) }
            for name in tables { try connection.execute("DROP TABLE IF EXISTS main.polystore_\(name)") }
        }
    }

    /// Returns whether every table has its triggers.
    func isInstalled() throws(StorageError) -> Bool {
        let entries = try entries()
        guard entries["format"] == "\(InPlaceIdentity.format)", triggers.keys.allSatisfy({ entries[Self.watched + $0] != nil }) else {
            return false
        }
        return try Self.present(connection) == triggers
    }

    /// Returns the tables with a trigger of the owner that is newer than Polystore's. The engine runs the newest trigger first, so what it
    /// does to the row would be logged before the change that fires it.
    private func late() throws(StorageError) -> Set<String> {
        let text: SQLText = """
            SELECT DISTINCT p.tbl_name FROM main.sqlite_master AS p JOIN main.sqlite_master AS o ON o.tbl_name = p.tbl_name COLLATE NOCASE
            WHERE p.type = 'trigger' AND o.type = 'trigger' AND o.rowid > p.rowid
                AND p.name LIKE 'polystore\\_%' ESCAPE '\\' AND o.name NOT LIKE 'polystore\\_%' ESCAPE '\\'
            """
        return Set(try connection.rows(text, [.string]).map { $0[0].text }).intersection(triggers.keys)
    }

    private static func drop(_ name: String) -> String { "DROP TRIGGER main.\(SQLText.quoted(name))" }

    /// Returns the existing triggers, by table and name.
    private static func present(_ connection: SQLiteConnection) throws(StorageError) -> [String: [String: String]] {
        let text: SQLText = """
            SELECT tbl_name, name, sql FROM main.sqlite_master WHERE type = 'trigger' AND name LIKE 'polystore\\_%' ESCAPE '\\'
            """
        var present: [String: [String: String]] = [:]
        for row in try connection.rows(text, [.string, .string, .string]) { present[row[0].text, default: [:]][row[1].text] = row[2].text }
        return present
    }
}
#endif
