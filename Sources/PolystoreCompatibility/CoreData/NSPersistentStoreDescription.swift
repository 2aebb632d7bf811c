#if !canImport(CoreData) && SQLite
public import Foundation
internal import Polystore
internal import PolystoreDefaults

/// The type of a store in a SQLite file.
public let NSSQLiteStoreType = "SQLite"

/// The type of a store in memory.
public let NSInMemoryStoreType = "InMemory"

/// The option that determines whether a store records its history. Without the option it does.
public let NSPersistentHistoryTrackingKey = "NSPersistentHistoryTrackingKey"

/// The option for notifications of changes by other processes. It has no effect: observers always receive these changes.
public let NSPersistentStoreRemoteChangeNotificationPostOptionKey = "NSPersistentStoreRemoteChangeNotificationPostOptionKey"

/// The option with the `NSStagedMigrationManager` of a container.
public let NSPersistentStoreStagedMigrationManagerOptionKey = "NSPersistentStoreStagedMigrationManagerOptionKey"

/// The description of a store that a container loads.
public final class NSPersistentStoreDescription {
    /// The URL of the file. A store in memory has none.
    public var url: URL?
    /// The type: `NSSQLiteStoreType` or `NSInMemoryStoreType`.
    public var type = NSSQLiteStoreType
    /// The configuration whose entities the store contains; nil for all.
    public var configuration: String?
    /// Whether the store refuses changes.
    public var isReadOnly = false
    /// Whether a file with another version of the model is migrated.
    public var shouldMigrateStoreAutomatically = true
    /// The options by their keys.
    public private(set) var options: [String: Any] = [:]

    /// Creates the description of a SQLite file.
    public init(url: URL) { self.url = url }

    /// Creates the description of a SQLite file at the program's default location.
    public init() {}

    /// Sets an option, or removes it with nil.
    public func setOption(_ option: Any?, forKey key: String) { options[key] = option }

    /// The manager of the steps between versions, or nil if the description has none.
    var migrationManager: SchemaHistory? { options[NSPersistentStoreStagedMigrationManagerOptionKey] as? SchemaHistory }

    /// Creates the described store.
    ///
    /// - Throws: `invalidConfiguration` for an unknown type; the errors of finding the default location.
    func store() throws(StorageError) -> any StorageInterface {
        let recordsHistory = (options[NSPersistentHistoryTrackingKey] as? NSNumber)?.boolValue ?? true
        switch type {
        case NSInMemoryStoreType: return InMemoryStore(configuration: configuration, recordsHistory: recordsHistory)
        case NSSQLiteStoreType:
            let path = if let url { url.path } else { try SQLiteStore().path }
            return SQLiteStore(path: path, configuration: configuration, readOnly: isReadOnly, recordsHistory: recordsHistory)
        default: throw StorageError(.invalidConfiguration, "a store of the type \"\(type)\" does not exist; use SQLite or InMemory")
        }
    }
}
#endif
