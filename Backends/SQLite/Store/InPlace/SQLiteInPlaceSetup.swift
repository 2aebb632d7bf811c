#if SQLite
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage

/// What lies beside the tables of another program: versions, the log of changes, and the triggers that keep both, whoever writes.
///
/// All of it is SQL that every version of SQLite since 3.8.2 reads and runs, because the other program opens the file with its own.
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
        INSERT OR IGNORE INTO main.polystore_inplace VALUES('format', '1');
        """

    private static let tables = ["inplace", "versions", "log", "commits", "notes", "keys"]
    private let connection: SQLiteConnection
    private let triggers: [String: String]

    init(_ connection: SQLiteConnection, _ tables: InPlaceTables) {
        self.connection = connection
        let all = tables.tables.flatMap(Self.triggers) + tables.pairs.flatMap(Self.triggers)
        triggers = Dictionary(all, uniquingKeysWith: { first, _ in first })
    }

    /// The identity of the store; nil where it was never written to in place.
    static func storeID(_ connection: SQLiteConnection) throws(StorageError) -> UUID? {
        let known: SQLText = "SELECT count(*) FROM main.sqlite_master WHERE type = 'table' AND name = 'polystore_inplace'"
        if try connection.number(known) != 1 { return nil }
        return try InPlaceIdentity.storeID(connection.entries("SELECT name, value FROM main.polystore_inplace"))
    }

    /// Makes what is missing, in one transaction; nothing is written where all is there.
    func install() throws(StorageError) {
        if try isInstalled() { return }
        try connection.inTransaction("BEGIN IMMEDIATE") { () throws(StorageError) in
            try connection.execute(Self.creation)
            try connection.execute("INSERT OR IGNORE INTO main.polystore_inplace VALUES('store', '\(UUID().uuidString)')")
            for (name, sql) in try present() where triggers[name] != sql { try connection.execute(Self.drop(name)) }
            let there = try present()
            for (name, sql) in triggers.sorted(by: { $0.key < $1.key }) where there[name] == nil { try connection.execute(sql) }
        }
    }

    /// Removes all of it, in one transaction; the tables of the other program stay as they are.
    static func remove(_ connection: SQLiteConnection) throws(StorageError) {
        try connection.inTransaction("BEGIN IMMEDIATE") { () throws(StorageError) in
            for name in try present(connection).keys { try connection.execute(drop(name)) }
            for name in tables { try connection.execute("DROP TABLE IF EXISTS main.polystore_\(name)") }
        }
    }

    private func isInstalled() throws(StorageError) -> Bool {
        guard try Self.storeID(connection) != nil else { return false }
        return try present() == triggers
    }

    private static func drop(_ name: String) -> String { "DROP TRIGGER main.\(SQLText.quoted(name))" }

    private func present() throws(StorageError) -> [String: String] { try Self.present(connection) }

    private static func present(_ connection: SQLiteConnection) throws(StorageError) -> [String: String] {
        let text: SQLText = """
            SELECT name, sql FROM main.sqlite_master WHERE type = 'trigger' AND name LIKE 'polystore\\_%' ESCAPE '\\'
            """
        return try connection.entries(text)
    }
}

extension SQLiteInPlaceSetup {
    private static func literal(_ text: String) -> String { "'\(SQLText.doubling("'", in: text))'" }

    /// Statements that raise the version of a row. Without a conflict clause: the one of the statement that fired the trigger would count.
    static func raise(_ source: String, _ key: String) -> String {
        let source = literal(source), place = "source = \(source) AND \"key\" = \(key)"
        return
            "INSERT INTO polystore_versions SELECT \(source), \(key), 1 WHERE NOT EXISTS (SELECT 1 FROM polystore_versions WHERE \(place)); "
            + "UPDATE polystore_versions SET version = version + 1 WHERE \(place);"
    }

    /// The statement that notes a change: the kind is the first letter of insert, update, delete or links.
    ///
    /// Which columns an update changed is not asked: a trigger that names a column keeps its owner from dropping it.
    private static func log(_ source: String, _ key: String, _ kind: String, condition: String = "") -> String {
        let now = "CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) * 1000"
        return "INSERT INTO polystore_log(time, source, \"key\", kind, changed) "
            + "SELECT \(now), \(literal(source)), \(key), '\(kind)', '\(InPlaceLog.everything)'\(condition);"
    }

    private static func trigger(_ name: String, _ event: String, _ table: String, when: String? = nil, _ body: String...) -> (
        String, String
    ) {
        let condition = when.map { " WHEN \($0)" } ?? ""
        return (
            name,
            "CREATE TRIGGER \(SQLText.quoted(name)) \(event) ON \(SQLText.quoted(table))\(condition) BEGIN \(body.joined(separator: " ")) END"
        )
    }

    private static func triggers(_ table: InPlaceTables.Table) -> [(String, String)] {
        let name = table.name, key = SQLText.quoted(table.key), old = "OLD.\(key)", new = "NEW.\(key)"
        return [
            // What replaces a row fires no trigger of a deletion.
            trigger(
                "polystore_\(name)_replace", "BEFORE INSERT", name,
                when: "EXISTS (SELECT 1 FROM \(SQLText.quoted(name)) WHERE \(key) = \(new))", raise(name, new)),
            trigger("polystore_\(name)_insert", "AFTER INSERT", name, log(name, new, "i")),
            trigger(
                "polystore_\(name)_update", "AFTER UPDATE", name, when: "\(old) = \(new)", raise(name, new), log(name, new, "u")),
            trigger(
                "polystore_\(name)_move", "AFTER UPDATE", name, when: "\(old) <> \(new)", raise(name, old), raise(name, new),
                log(name, old, "d"), log(name, new, "i")),
            trigger("polystore_\(name)_delete", "AFTER DELETE", name, raise(name, old), log(name, old, "d")),
        ]
    }

    private static func triggers(_ pairs: InPlaceTables.Pairs) -> [(String, String)] {
        let name = pairs.name
        func log(_ row: String) -> String {
            let key = pairs.ownerKey(row)
            return Self.log(name, key, "l", condition: " WHERE \(key) IS NOT NULL")
        }
        return [
            trigger("polystore_\(name)_insert", "AFTER INSERT", name, log("NEW")),
            trigger("polystore_\(name)_update", "AFTER UPDATE", name, log("OLD"), log("NEW")),
            trigger("polystore_\(name)_delete", "AFTER DELETE", name, log("OLD")),
        ]
    }
}
#endif
