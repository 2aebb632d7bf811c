public import Polystore
public import PolystoreDefaults

#if SQLite
public import Foundation
#endif

/// The façade of HardcoreData, which is the first name of CoreStore. It has the same default stack.
public typealias HardcoreData = CoreStore

extension DataStack {
    /// Adds an in-memory store.
    public func addInMemoryStore(configuration: String? = nil) -> SetupResult<InMemoryStore> {
        let store = InMemoryStore(configuration: configuration)
        return Result { () throws(StorageError) in try addStorageAndWait(store) }
    }
}

#if SQLite
extension SQLiteStore {
    /// Returns the store with the given file name. Earlier versions of CoreStore had another location for it; here there is a single
    /// default location, so the store is at that location.
    public static func legacy(
        fileName: String? = nil, configuration: String? = nil, migrationMappingProviders: [any SchemaMappingProvider] = [],
        localStorageOptions: LocalStorageOptions = []
    ) throws(StorageError) -> SQLiteStore {
        let place = try SQLiteStore().fileURL
        let url = fileName.map { place.deletingLastPathComponent().appendingPathComponent($0) } ?? place
        return SQLiteStore(
            fileURL: url, configuration: configuration, migrationMappingProviders: migrationMappingProviders,
            localStorageOptions: localStorageOptions)
    }
}

extension DataStack {
    /// Adds a SQLite store in a file of the given name in the program's default folder, or at the default location itself.
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
    /// Adds a SQLite store to the default stack, in a file of the given name in the program's default folder, or at the default location.
    @discardableResult
    public static func addSQLiteStore(
        _ fileName: String? = nil, configuration: String? = nil, automigrating: Bool = true, resetStoreOnMigrationFailure: Bool = false
    ) -> SetupResult<SQLiteStore> {
        defaultStack.addSQLiteStore(
            fileName, configuration: configuration, automigrating: automigrating,
            resetStoreOnMigrationFailure: resetStoreOnMigrationFailure)
    }

    /// Adds a SQLite store to the default stack, in a file.
    @discardableResult
    public static func addSQLiteStore(
        fileURL: URL, configuration: String? = nil, automigrating: Bool = true, resetStoreOnMigrationFailure: Bool = false
    ) -> SetupResult<SQLiteStore> {
        defaultStack.addSQLiteStore(
            fileURL: fileURL, configuration: configuration, automigrating: automigrating,
            resetStoreOnMigrationFailure: resetStoreOnMigrationFailure)
    }
}
#endif

extension CoreStore {
    /// Adds an in-memory store to the default stack.
    public static func addInMemoryStore(configuration: String? = nil) -> SetupResult<InMemoryStore> {
        defaultStack.addInMemoryStore(configuration: configuration)
    }
}
