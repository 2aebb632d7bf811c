#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// Who made the tables of a schema.
protocol PostgreSQLOwner: SQLTableOwner {
    /// Opens a store whose schema has this owner.
    func open(_ store: PostgreSQLStore, _ request: OpenRequest) throws(StorageError) -> StorageState

    /// Closes the store and removes what this library has made in the schema.
    ///
    /// - Throws: At once, where that is nothing.
    func erase(_ store: PostgreSQLStore) throws(StorageError)
}

extension PostgreSQLCatalog {
    /// The owner of the tables.
    func owner(recordsHistory: Bool) -> any PostgreSQLOwner {
        switch self {
        case .own: PostgreSQLOwnTables(recordsHistory: recordsHistory)
        case .inPlace: PostgreSQLInPlaceTables()
        case .foreign: PostgreSQLForeignTables()
        }
    }
}
#endif
