public import Polystore
internal import PolystoreDefaults

#if SQLite
public import Foundation
#else
internal import Foundation
#endif

/// A stack of CoreDataMonk: a model, its stores, and the setting whether contexts may merge automatically.
public final class CoreDataStack: Sendable {
    /// The underlying stack.
    public let dataStack: DataStack
    /// Whether contexts may merge automatically.
    public let rootContext: RootContextType
    /// The lock that serialises `perform`, for contexts that request it.
    let serialOrder = NSRecursiveLock()
    private let serialUpdates = DispatchQueue(label: "polystore.updates.serial")
    private let updates = DispatchQueue(label: "polystore.updates", attributes: .concurrent)

    /// Creates a stack without stores over a model.
    public init(_ dataStack: DataStack, rootContext: RootContextType = .shared) {
        self.dataStack = dataStack
        self.rootContext = rootContext
    }

    /// Returns the queue of background updates.
    func updates(_ order: UpdateOrder) -> DispatchQueue { order == .serial ? serialUpdates : updates }

    #if SQLite
    /// Adds a SQLite file at the program's default location.
    ///
    /// - Parameters:
    ///   - configuration: The configuration whose entities the store keeps, or nil for all.
    ///   - autoMigrating: Whether a file with another version of the model is migrated by steps that can be inferred from the schemas.
    ///   - resetOnFailure: Whether a file that cannot be migrated is deleted and created again. Such a file is always migrated if it can
    ///     be, and the values of removed properties are lost.
    /// - Throws: `schemaMismatch` for a file with another version of the model that may not be migrated; `dataLossRefused` for a migration
    ///   that would lose values, without `resetOnFailure`; any error of opening and migrating.
    public func addDatabaseStore(
        configuration: String? = nil, autoMigrating: Bool = true, resetOnFailure: Bool = false
    ) throws(StorageError) {
        var url = try SQLiteStore().fileURL
        if let configuration {
            let name = url.deletingPathExtension().lastPathComponent + "-\(configuration).sqlite"
            url = url.deletingLastPathComponent().appendingPathComponent(name)
        }
        try addDatabaseStore(fileURL: url, configuration: configuration, autoMigrating: autoMigrating, resetOnFailure: resetOnFailure)
    }

    /// Adds a SQLite file of a name in the folder of the program's default location.
    public func addDatabaseStore(
        fileName: String, configuration: String? = nil, autoMigrating: Bool = true, resetOnFailure: Bool = false
    ) throws(StorageError) {
        let url = try SQLiteStore().fileURL.deletingLastPathComponent().appendingPathComponent(fileName)
        try addDatabaseStore(fileURL: url, configuration: configuration, autoMigrating: autoMigrating, resetOnFailure: resetOnFailure)
    }

    /// Adds a SQLite file.
    public func addDatabaseStore(
        fileURL: URL, configuration: String? = nil, autoMigrating: Bool = true, resetOnFailure: Bool = false
    ) throws(StorageError) {
        var options: LocalStorageOptions = []
        if autoMigrating { options.insert(.allowSynchronousLightweightMigration) }
        if resetOnFailure { options.insert(.recreateStoreOnModelMismatch) }
        try dataStack.addStorageAndWait(SQLiteStore(fileURL: fileURL, configuration: configuration, localStorageOptions: options))
    }
    #endif

    /// Adds an in-memory store.
    public func addInMemoryStore(configuration: String? = nil) throws(StorageError) {
        try dataStack.addStorageAndWait(InMemoryStore(configuration: configuration))
    }
}
