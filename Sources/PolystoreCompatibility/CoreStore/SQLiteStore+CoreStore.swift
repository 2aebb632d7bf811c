#if SQLite
public import Foundation
public import Polystore
public import PolystoreDefaults

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
