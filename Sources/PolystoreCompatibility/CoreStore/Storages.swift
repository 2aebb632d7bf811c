public import Foundation
public import Polystore
public import PolystoreDefaults

extension LocalStorageOptions: ExpressibleByNilLiteral {
    /// No options.
    public static var none: LocalStorageOptions { [] }

    /// Creates no options.
    public init(nilLiteral: ()) { self = [] }
}

extension DataStack {
    /// Removes all stores and closes them. Their objects can no longer be loaded.
    public func unsafeRemoveAllPersistentStoresAndWait() throws(StorageError) {
        for storage in storages { try removeStorage(storage) }
    }
}

#if SQLite
extension SQLiteStore {
    /// Creates a store in a file, with the arguments in CoreStore's order.
    public convenience init(
        fileURL: URL, configuration: ModelConfiguration = nil, migrationMappingProviders: [any SchemaMappingProvider],
        localStorageOptions: LocalStorageOptions
    ) {
        self.init(
            fileURL: fileURL, configuration: configuration, localStorageOptions: localStorageOptions,
            migrationMappingProviders: migrationMappingProviders)
    }

    /// Creates a store in a file of the given name in the folder of the default location, with the arguments in CoreStore's order.
    public convenience init(
        fileName: String, configuration: ModelConfiguration = nil, migrationMappingProviders: [any SchemaMappingProvider],
        localStorageOptions: LocalStorageOptions
    ) throws(StorageError) {
        try self.init(
            fileName: fileName, configuration: configuration, localStorageOptions: localStorageOptions,
            migrationMappingProviders: migrationMappingProviders)
    }
}
#endif
