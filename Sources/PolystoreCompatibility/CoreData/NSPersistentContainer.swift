#if !canImport(CoreData) && SQLite
public import Polystore

/// The container of Core Data over a stack: a model, the descriptions of its stores, and contexts.
///
/// ```swift
/// let container = try NSPersistentContainer(name: "Shop", managedObjectModel: model)
/// container.persistentStoreDescriptions[0].setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
/// container.loadPersistentStores { description, error in … }
/// ```
public final class NSPersistentContainer {
    /// The name of the container.
    public let name: String
    /// The model.
    public let managedObjectModel: NSManagedObjectModel
    /// The descriptions of the stores to load, at first that of a SQLite file at the program's default location.
    public var persistentStoreDescriptions = [NSPersistentStoreDescription()]
    /// The underlying stack, such as for a `PersistentHistoryTracker`. It has stores after `loadPersistentStores`.
    public private(set) var dataStack: DataStack
    private let models: [ManagedObject.Type]

    /// Creates a container without stores.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - managedObjectModel: The model.
    ///   - models: The classes of entities. Entities without a class use `DynamicObject`.
    /// - Throws: `invalidConfiguration` for a class that does not match the model.
    public init(name: String, managedObjectModel: NSManagedObjectModel, models: [ManagedObject.Type] = []) throws(StorageError) {
        self.name = name
        self.managedObjectModel = managedObjectModel
        self.models = models
        dataStack = try DataStack(schema: managedObjectModel, models: models)
    }

    /// Opens the described stores while the caller waits, and migrates those with another version of the model: by the steps of a
    /// migration manager if a description has one, otherwise directly. With a manager the container has another stack afterwards.
    ///
    /// - Parameter completionHandler: A closure that is called for each description, with the error if the store was not opened.
    public func loadPersistentStores(completionHandler: (NSPersistentStoreDescription, (any Error)?) -> Void) {
        let loaded = Result { () throws(StorageError) in try stack() }
        if case .success(let stack) = loaded { dataStack = stack }
        for description in persistentStoreDescriptions {
            do {
                try add(description, loaded.get())
                completionHandler(description, nil)
            } catch {
                completionHandler(description, error)
            }
        }
    }

    /// Returns the stack of the first migration manager, or the present one if there is none.
    private func stack() throws(StorageError) -> DataStack {
        guard let manager = persistentStoreDescriptions.lazy.compactMap(\.migrationManager).first else { return dataStack }
        guard manager.currentSchema.hash == managedObjectModel.hash else {
            throw StorageError(
                .invalidConfiguration,
                "the migration manager leads to version \"\(manager.currentVersion)\", which is not the model of the container")
        }
        var history = manager
        if history.models.isEmpty { history.models = models }
        return try DataStack(schemaHistory: history)
    }

    private func add(_ description: NSPersistentStoreDescription, _ stack: DataStack) throws(StorageError) {
        let store = try description.store()
        if description.shouldMigrateStoreAutomatically { try stack.upgradeStorageIfNeeded(store) }
        try stack.addStorageAndWait(store)
    }

    /// The main actor's context for reading objects.
    @MainActor public var viewContext: ViewContext { dataStack.viewContext }

    /// Returns a context that writes, for the isolation of the caller.
    public func newBackgroundContext() -> sending UnsafeTransaction { dataStack.beginUnsafe() }
}
#endif
