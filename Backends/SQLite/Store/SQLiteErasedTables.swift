#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// The tables of a store that is erased, beside those of other programs in its file.
struct SQLiteErasedTables {
    /// The suffixes of the tables in which the engine keeps a full-text index.
    private static let shadows = ["", "_data", "_idx", "_content", "_docsize", "_config"]

    private let connection: SQLiteConnection
    private let tables: SQLTables
    private let names: [String]

    /// Reads the metadata of the store.
    init(_ setup: SQLiteSetup) throws(StorageError) {
        connection = setup.connection
        let metadata = try StoreMetadata(entries: setup.entries())
        tables = SQLTables(metadata.schema, .sqlite, entityNumbers: metadata.entityNumbers)
        names = SQLiteSetup.tables + tables.tableNames
    }

    private var fullTextIndexes: [SQLTables.IndexStatement] { tables.indexes().filter(\.isTable) }

    /// Returns whether a table has a row, or the history an entry.
    func areUsed() throws(StorageError) -> Bool {
        for table in tables.tableNames + ["polystore_history", "polystore_notes"]
        where try connection.number("SELECT 1 FROM main.\(identifier: table) LIMIT 1") != nil { return true }
        return false
    }

    /// Returns the names of the tables and views of other programs. Their indexes and triggers on the store's tables belong to these.
    func others() throws(StorageError) -> [String] {
        let own = Set(names + fullTextIndexes.flatMap { index in Self.shadows.map { index.name + $0 } })
        let text: SQLText =
            "SELECT name FROM main.sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name"
        return try connection.rows(text, [.string]).map { $0[0].text }.filter { !own.contains($0) }
    }

    /// Drops the tables and indexes of the store. What is left can become a store again.
    ///
    /// - Throws: `unsupported` if a view or a foreign key of another program depends on a table.
    func drop() throws(StorageError) {
        let others = try others(), readable = others.filter(isReadable)
        if let child = try referring(others) { throw Self.refusal(child) }
        for index in fullTextIndexes { try connection.execute(index.removal) }
        for name in names { try connection.execute("DROP TABLE main.\(SQLText.quoted(name))") }
        if let view = readable.first(where: { !isReadable($0) }) { throw Self.refusal(view) }
    }

    private func isReadable(_ name: String) -> Bool {
        (try? connection.execute("SELECT 1 FROM main.\(SQLText.quoted(name)) LIMIT 0")) != nil
    }

    /// Returns the first of the tables that refers to a table of the store.
    private func referring(_ others: [String]) throws(StorageError) -> String? {
        let own = Set(names.map { $0.lowercased() })
        for name in others {
            let text: SQLText = "SELECT \"table\" FROM pragma_foreign_key_list(\(bind: .string(name), .string), 'main')"
            if try connection.rows(text, [.string]).contains(where: { own.contains($0[0].text.lowercased()) }) { return name }
        }
        return nil
    }

    private static func refusal(_ name: String) -> StorageError {
        StorageError(
            .unsupported, "\(name), which another program has made, depends on a table of the store; remove it, and erase the store again")
    }
}
#endif
