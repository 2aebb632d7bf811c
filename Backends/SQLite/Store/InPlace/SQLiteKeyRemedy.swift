#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// The statements that give a table an integer primary key, which an administrator runs. They keep its rows, indexes and triggers, and the
/// former primary key becomes a unique constraint (https://sqlite.org/lang_altertable.html#otheralter). Tables with foreign keys that do not
/// name the columns to which they refer are made again with their names: such a key refers to whatever the primary key is.
struct SQLiteKeyRemedy {
    private let connection: SQLiteConnection
    private let rows: SQLiteCatalogRows

    init(_ connection: SQLiteConnection) {
        self.connection = connection
        rows = SQLiteCatalogRows(connection)
    }

    /// Returns the statements for a table; nil if a foreign key refers to it without columns and has another number of columns than its
    /// primary key, so that nothing can be named.
    func statements(_ table: CatalogTable) throws(StorageError) -> String? {
        let taken = try rows.columns(table.name).map { $0.name.lowercased() }, key = taken.contains("id") ? "row_id" : "id"
        let definition = CatalogDefinition.body(
            ofTable: try rows.statement(table.name), table.name, adding: "\(SQLText.quoted(key)) INTEGER PRIMARY KEY",
            formerKey: table.primaryKey)
        var exchanges = try exchange(table.name, definition)
        for other in try rows.tables() where other.type == "table" {
            let unnamed = try rows.references(other.name).filter {
                $0.targets.isEmpty && $0.table.lowercased() == table.name.lowercased()
            }
            if unnamed.isEmpty { continue }
            guard unnamed.allSatisfy({ $0.columns.count == table.primaryKey.count }) else { return nil }
            if other.name == table.name { continue }
            let named = CatalogDefinition.body(ofTable: try rows.statement(other.name), naming: table.primaryKey, of: table.name)
            exchanges += try exchange(other.name, named)
        }
        // Without the first two settings the exchange would change references of other tables, or fail because of views.
        return "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; BEGIN; \(exchanges)COMMIT;"
    }

    /// Returns the statements that put a table with another definition in the place of a table.
    private func exchange(_ table: String, _ definition: String) throws(StorageError) -> String {
        let name = SQLText.quoted(table), new = SQLText.quoted("new_" + table)
        let kept = try rows.columns(table).filter { !$0.isComputed }.map { SQLText.quoted($0.name) }.joined(separator: ", ")
        let others: SQLText = """
            SELECT sql FROM main.sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL
                AND tbl_name = \(bind: .string(table), .string) COLLATE NOCASE ORDER BY type, name
            """
        // A definition can end with a comment, which ends with its line.
        let kindred = try connection.rows(others, [.string]).map { $0[0].text + "\n; " }.joined()
        return "CREATE TABLE \(new)\(definition); INSERT INTO \(new)(\(kept)) SELECT \(kept) FROM \(name); "
            + "\(try counter(table))DROP TABLE \(name); ALTER TABLE \(new) RENAME TO \(name); \(kindred)"
    }

    /// Returns the statements that keep the greatest key that a table has ever had, where the engine stores it.
    private func counter(_ table: String) throws(StorageError) -> String {
        if try connection.number("SELECT count(*) FROM main.sqlite_master WHERE name = 'sqlite_sequence'") == 0 { return "" }
        let isCounted: SQLText = "SELECT count(*) FROM main.sqlite_sequence WHERE name = \(bind: .string(table), .string)"
        if try connection.number(isCounted) == 0 { return "" }
        let name = SQLText.doubling("'", in: table)
        return "DELETE FROM sqlite_sequence WHERE name = 'new_\(name)'; "
            + "INSERT INTO sqlite_sequence(name, seq) SELECT 'new_\(name)', seq FROM sqlite_sequence WHERE name = '\(name)'; "
    }
}
#endif
