#if SQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// A database of another program that is used in place, with connections whose views have the layout of Polystore's own tables.
final class SQLiteInPlace: Sendable {
    /// The metadata of the store.
    let metadata: StoreMetadata
    /// The remarks on parts that are left out or read differently.
    let remarks: [CatalogRemark]
    /// The tables for writing.
    let tables: InPlaceTables
    /// Whether every table has triggers. A store that is only read creates none.
    let isWatched: Bool
    private let place: SQLitePlace
    private let views: [String]
    /// The engine's schema version when the table definitions were last verified to be unchanged.
    private let cookie: Atomic<Int64>
    private let shape: [String]

    /// The replacements for Polystore's own tables, where they do not exist yet and may not be created.
    private static let standIns = [
        "CREATE TEMP VIEW polystore_notes AS SELECT '' AS name, x'' AS value WHERE 0",
        "CREATE TEMP VIEW polystore_commits AS SELECT 0 AS position, 0 AS first, 0 AS time, '' AS author WHERE 0",
        """
        CREATE TEMP VIEW polystore_log AS
            SELECT 0 AS position, 0 AS time, '' AS source, 0 AS "key", '' AS kind, '' AS changed WHERE 0
        """,
    ]

    /// Reads the catalog of a file, and creates Polystore's own tables and triggers beside its tables.
    ///
    /// - Throws: `schemaMismatch` for another schema than that of the tables. Nothing was created then.
    init(_ place: SQLitePlace, _ request: OpenRequest, readOnly: Bool) throws(StorageError) {
        let connection = readOnly ? try place.reader() : try place.guest()
        SQLiteForm.register(connection.handle)
        var reader = SQLiteCatalogReader(connection, isInPlace: true)
        var catalog = try reader.catalog()
        let remedy = SQLiteKeyRemedy(connection)
        try catalog.leaveOutUnfit(request, option: "catalog=foreign") { tables throws(StorageError) in
            // Those of another table depend on what the first ones have made of it.
            try remedy.statements(tables[0])
        }
        var source = try catalog.source()
        try source.adopt(request)
        try StoreMetadata.check(request, of: source.schema)
        tables = InPlaceTables(source)
        let setup = try SQLiteInPlaceSetup(connection, tables)
        if !readOnly { try setup.install() }
        let id = try SQLiteInPlaceSetup.storeID(connection)
        isWatched = if id == nil { true } else { try setup.isInstalled() }
        if let id {
            for table in tables.schema.descriptions { source.rows[table.name]?.version = Self.version(tables.tables[table.index]) }
            metadata = try StoreMetadata(source, storeID: id)
        } else {
            metadata = try StoreMetadata(source, identity: try SQLiteForeign.identity(place, connection))
        }
        self.place = place
        remarks = source.remarks
        let views = source.views(SQLTables(metadata.schema, .sqlite, entityNumbers: metadata.entityNumbers))
        self.views = id == nil ? views + Self.standIns : views
        cookie = Atomic(try connection.integer("PRAGMA schema_version") ?? 0)
        shape = try Self.shape(connection, tables)
    }

    /// Returns the version of a row. A row that has not changed since the database is used in place has version 1.
    static func version(_ table: InPlaceTables.Table) -> String {
        let name = SQLText.doubling("'", in: table.name), key = SQLText.quoted(table.key)
        return "coalesce((SELECT v.version FROM main.polystore_versions AS v WHERE v.source = '\(name)' AND v.\"key\" = t.\(key)), 1)"
    }

    /// Returns the definitions of the tables and their triggers: their statements, the triggers on them, and the number of times that the
    /// history was ended. Other objects that the owner creates in the file, including statistics, do not matter.
    private static func shape(_ connection: SQLiteConnection, _ tables: InPlaceTables) throws(StorageError) -> [String] {
        let names = Set(tables.tables.map(\.name) + tables.pairs.map(\.name))
        let text: SQLText = """
            SELECT tbl_name, sql FROM main.sqlite_master WHERE type = 'table' OR type = 'trigger' AND name LIKE 'polystore\\_%' ESCAPE '\\'
            ORDER BY type, name
            """
        var shape: [String] = []
        for row in try connection.rows(text, [.string, .string]) where names.contains(row[0].text) { shape.append(row[1].text) }
        if try SQLiteInPlaceSetup.storeID(connection) == nil { return shape }
        return shape + (try connection.rows("SELECT value FROM main.polystore_inplace WHERE name = 'epoch'", [.string]).map { $0[0].text })
    }

    /// Throws if the owner has changed the tables. Takes the snapshot of a transaction.
    func check(_ connection: SQLiteConnection) throws(StorageError) {
        let now = try connection.integer("PRAGMA schema_version") ?? 0
        if now == cookie.load(ordering: .relaxed) { return }
        guard try Self.shape(connection, tables) == shape else {
            throw StorageError(
                .schemaMismatch,
                "the tables of the database, or Polystore's triggers and tables, were changed by another program; open the store again")
        }
        cookie.store(now, ordering: .relaxed)
    }

    /// Opens a connection that reads the tables in the layout of Polystore's own tables.
    func reader() throws(StorageError) -> SQLiteConnection { try prepared(place.reader()) }

    /// Opens a connection that reads the tables in this layout and writes the tables themselves.
    func writer() throws(StorageError) -> SQLiteConnection { try prepared(place.guest()) }

    /// Rewrites the file without gaps, on a connection without the views: VACUUM creates the indexes again by their statements, in which the
    /// name of a table would mean the view.
    func vacuum() throws(StorageError) { try place.guest().execute("VACUUM") }

    private func prepared(_ connection: SQLiteConnection) throws(StorageError) -> SQLiteConnection {
        SQLiteForm.register(connection.handle)
        SQLiteStoring.register(connection.handle)
        for view in views { try connection.execute(view) }
        return connection
    }

    /// Removes Polystore's own tables and triggers.
    static func remove(_ place: SQLitePlace) throws(StorageError) { try SQLiteInPlaceSetup.remove(place.guest()) }
}
#endif
