#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// The statements that give a table an integer primary key, which an administrator runs. They keep its rows, indexes and triggers, and the
/// former primary key becomes a unique constraint (https://sqlite.org/lang_altertable.html#otheralter).
struct SQLiteKeyRemedy {
    private let connection: SQLiteConnection
    private let rows: SQLiteCatalogRows

    init(_ connection: SQLiteConnection) {
        self.connection = connection
        rows = SQLiteCatalogRows(connection)
    }

    func statements(_ table: CatalogTable) throws(StorageError) -> String {
        let columns = try rows.columns(table.name), taken = columns.map { $0.name.lowercased() }
        let key = taken.contains("id") ? "row_id" : "id"
        let name = SQLText.quoted(table.name), new = SQLText.quoted("new_" + table.name)
        let kept = columns.filter { !$0.isComputed }.map { SQLText.quoted($0.name) }.joined(separator: ", ")
        let definition = CatalogDefinition.body(
            ofTable: try rows.statement(table.name), adding: "\(SQLText.quoted(key)) INTEGER PRIMARY KEY", formerKey: table.primaryKey)
        let others: SQLText = """
            SELECT sql FROM main.sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL
                AND tbl_name = \(bind: .string(table.name), .string) COLLATE NOCASE ORDER BY type, name
            """
        let kindred = try connection.rows(others, [.string]).map { $0[0].text + "; " }.joined()
        // Without the first two settings the exchange would change references of other tables, or fail because of views.
        return "PRAGMA foreign_keys = OFF; PRAGMA legacy_alter_table = ON; BEGIN; CREATE TABLE \(new)\(definition); "
            + "INSERT INTO \(new)(\(kept)) SELECT \(kept) FROM \(name); DROP TABLE \(name); ALTER TABLE \(new) RENAME TO \(name); "
            + "\(kindred)COMMIT;"
    }
}
#endif
