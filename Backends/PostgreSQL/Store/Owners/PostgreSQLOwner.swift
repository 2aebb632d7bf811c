#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The table ownership of a schema, with the operations that depend on it.
protocol PostgreSQLOwner: SQLTableOwner {
    /// Opens a store whose tables have this owner.
    func open(_ store: PostgreSQLStore, _ request: OpenRequest) throws(StorageError) -> StorageState

    /// Closes the store and removes everything that Polystore created in the schema.
    ///
    /// - Throws: An error before closing the store, where Polystore created nothing.
    func erase(_ store: PostgreSQLStore) throws(StorageError)
}

extension PostgreSQLCatalog {
    /// Returns the owner of the tables.
    func owner(recordsHistory: Bool) -> any PostgreSQLOwner {
        switch self {
        case .own: PostgreSQLOwnTables(recordsHistory: recordsHistory)
        case .inPlace: PostgreSQLInPlaceTables()
        case .foreign: PostgreSQLForeignTables()
        }
    }
}
#endif
