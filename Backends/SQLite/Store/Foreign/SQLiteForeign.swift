#if SQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// An opened database of another program, with connections whose views have the layout of Polystore's own tables.
struct SQLiteForeign: Sendable {
    /// The metadata of the store.
    let metadata: StoreMetadata
    /// The remarks on parts that are left out or read differently.
    let remarks: [CatalogRemark]
    private let place: SQLitePlace
    private let views: [String]

    /// The statements that create replacements for Polystore's own tables. They contain only the hash of the schema, but reading the first
    /// one takes a snapshot of the file.
    private var standIns: String {
        """
        CREATE TEMP VIEW polystore_metadata AS SELECT 'hash' AS key, '\(metadata.hash)' AS value FROM main.sqlite_master LIMIT 1;
        CREATE TEMP VIEW polystore_notes AS SELECT '' AS name, x'' AS value WHERE 0
        """
    }

    /// Reads the catalog of a file.
    ///
    /// - Parameter request: The model of the program. Without one, indexes that are not unique are part of the schema.
    init(_ place: SQLitePlace, _ catalog: SQLiteCatalog, _ request: OpenRequest) throws(StorageError) {
        let connection = try place.reader()
        SQLiteForm.register(connection.handle)
        var source: CatalogSource
        switch catalog {
        case .own, .foreign, .inPlace:
            var reader = SQLiteCatalogReader(connection, readsIndexes: request.schema == nil)
            source = try reader.catalog().source()
            try source.adopt(request)
            metadata = try StoreMetadata(source, identity: try Self.identity(place, connection))
        case .coreData(let model):
            let file = try CoreDataFile(connection, model: model, folder: SQLiteOutsideData.folder(ofDatabase: place.path))
            source = try file.source()
            try source.adopt(request)
            metadata = try StoreMetadata(source, storeID: file.storeID, numbers: file.numbers(source.schema))
        }
        self.place = place
        remarks = source.remarks
        views = source.views(SQLTables(metadata.schema, .sqlite, entityNumbers: metadata.entityNumbers))
    }

    /// Returns an identity made of the path and the table definitions of a file.
    static func identity(_ place: SQLitePlace, _ connection: SQLiteConnection) throws(StorageError) -> String {
        let path = URL(fileURLWithPath: place.path).standardizedFileURL.path
        let statements = try connection.rows("SELECT sql FROM main.sqlite_master ORDER BY name, type", [.string])
        return ([path] + statements.map { $0[0].text }).joined(separator: "\n")
    }

    /// Opens a connection with views in the layout of Polystore's own tables.
    func reader() throws(StorageError) -> SQLiteConnection {
        let connection = try place.reader()
        SQLiteForm.register(connection.handle)
        try connection.execute(standIns)
        for view in views { try connection.execute(view) }
        return connection
    }
}
#endif
