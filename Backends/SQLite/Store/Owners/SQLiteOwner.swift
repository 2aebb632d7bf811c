#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// Who made the tables of a file.
protocol SQLiteOwner: SQLTableOwner {
    /// What shows that other connections have committed.
    var evidence: SQLiteWatch.Evidence { get }

    /// What a stack may do when the file does not fit its model.
    func localStorageOptions(_ options: LocalStorageOptions) -> LocalStorageOptions

    func open(_ place: SQLitePlace, _ request: OpenRequest, readOnly: Bool) throws(StorageError) -> SQLOpening<SQLiteCore>

    /// Closes the file and removes what this library has made of it.
    ///
    /// - Throws: At once, where that is nothing.
    func erase(_ place: SQLitePlace, _ close: () throws(StorageError) -> Void) throws(StorageError)
}

extension SQLiteOwner {
    func localStorageOptions(_ options: LocalStorageOptions) -> LocalStorageOptions { options }
}

extension SQLiteCatalog {
    /// The owner of the tables.
    func owner(recordsHistory: Bool) -> any SQLiteOwner {
        switch self {
        case .own: SQLiteOwnTables(recordsHistory: recordsHistory)
        case .inPlace: SQLiteInPlaceTables()
        case .foreign, .coreData: SQLiteForeignTables(catalog: self)
        }
    }
}
#endif
