public import Polystore
public import PolystoreDefaults

#if SQLite
public import Foundation
#endif

/// HardcoreData's façade: CoreStore's under its first name, with the same default stack.
public typealias HardcoreData = CoreStore

extension DataStack {
    /// Adds a store in memory.
    public func addInMemoryStore(configuration: String? = nil) -> SetupResult<InMemoryStore> {
        let store = InMemoryStore(configuration: configuration)
        return Result { () throws(StorageError) in try addStorageAndWait(store) }
    }
}

#if SQLite
extension SQLiteStore {
    /// A store at the place where earlier versions of CoreStore kept a file of this name. There is one default place here, so it is the
    /// store of that name.
    public static func legacy(
        fileName: String? = nil, configuration: String? = nil, localStorageOptions: LocalStorageOptions = []
    ) throws(StorageError) -> SQLiteStore {
        let place = try SQLiteStore().fileURL
        let url = fileName.map { place.deletingLastPathComponent().appendingPathComponent($0) } ?? place
        return SQLiteStore(fileURL: url, configuration: configuration, localStorageOptions: localStorageOptions)
    }
}

extension DataStack {
    /// Adds a SQLite store in a file of this name at the default place of the program, or at the default place itself.
    @discardableResult
    public func addSQLiteStore(
        _ fileName: String? = nil, configuration: String? = nil, automigrating: Bool = true, resetStoreOnMigrationFailure: Bool = false
    ) -> SetupResult<SQLiteStore> {
        Result { () throws(StorageError) in
            let url = try SQLiteStore.legacy(fileName: fileName).fileURL
            return try add(url, configuration, automigrating, resetStoreOnMigrationFailure)
        }
    }

    /// Adds a SQLite store in a file.
    @discardableResult
    public func addSQLiteStore(
        fileURL: URL, configuration: String? = nil, automigrating: Bool = true, resetStoreOnMigrationFailure: Bool = false
    ) -> SetupResult<SQLiteStore> {
        Result { () throws(StorageError) in try add(fileURL, configuration, automigrating, resetStoreOnMigrationFailure) }
    }

    private func add(_ url: URL, _ configuration: String?, _ automigrating: Bool, _ reset: Bool) throws(StorageError) -> SQLiteStore {
        var options: LocalStorageOptions = automigrating ? [.allowSynchronousLightweightMigration] : []
        if reset { options.insert(.recreateStoreOnModelMismatch) }
        return try addStorageAndWait(SQLiteStore(fileURL: url, configuration: configuration, localStorageOptions: options))
    }
}

extension CoreStore {
    /// Adds a SQLite store to the default stack.
    @discardableResult
    public static func addSQLiteStore(_ fileName: String? = nil) -> SetupResult<SQLiteStore> { defaultStack.addSQLiteStore(fileName) }
}
#endif

extension CoreStore {
    /// Adds a store in memory to the default stack.
    public static func addInMemoryStore(configuration: String? = nil) -> SetupResult<InMemoryStore> {
        defaultStack.addInMemoryStore(configuration: configuration)
    }
}
