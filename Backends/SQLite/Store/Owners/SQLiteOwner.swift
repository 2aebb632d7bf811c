#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// The table ownership of a file, with the operations that depend on it.
protocol SQLiteOwner: SQLTableOwner {
    /// The evidence of commits of other connections.
    var evidence: SQLiteWatch.Evidence { get }

    /// Returns the actions that a stack may take when the file does not match its model.
    func localStorageOptions(_ options: LocalStorageOptions) -> LocalStorageOptions

    func open(_ place: SQLitePlace, _ request: OpenRequest, readOnly: Bool) throws(StorageError) -> SQLOpening<SQLiteCore>

    /// Closes the file and removes everything that Polystore created of it.
    ///
    /// - Throws: An error before closing the file, where Polystore created nothing.
    func erase(_ place: SQLitePlace, _ close: () throws(StorageError) -> Void) throws(StorageError)
}

extension SQLiteOwner {
    func localStorageOptions(_ options: LocalStorageOptions) -> LocalStorageOptions { options }
}

extension SQLiteCatalog {
    /// Returns the owner of the tables.
    func owner(recordsHistory: Bool) -> any SQLiteOwner {
        switch self {
        case .own: SQLiteOwnTables(recordsHistory: recordsHistory)
        case .inPlace: SQLiteInPlaceTables()
        case .foreign, .coreData: SQLiteForeignTables(catalog: self)
        }
    }
}
#endif
