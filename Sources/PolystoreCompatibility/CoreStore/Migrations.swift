internal import Dispatch
public import Polystore

extension DataStack {
    /// Returns the types of the migration steps that a store requires to reach the current version of the model.
    public func requiredMigrationsForStorage(_ storage: any StorageInterface) throws(StorageError) -> [MigrationType] {
        try requiredMigrations(for: storage).map(\.type)
    }
}

extension CoreStore {
    /// Returns the types of the migration steps that a store requires to reach the current version of the default stack's model.
    public static func requiredMigrationsForStorage(_ storage: any StorageInterface) throws(StorageError) -> [MigrationType] {
        try defaultStack.requiredMigrationsForStorage(storage)
    }

    /// Migrates a store in the background without adding it. The completion is called on the main queue.
    ///
    /// - Returns: The progress, or nil if no migration is necessary.
    @discardableResult
    public static func upgradeStorageIfNeeded(
        _ storage: any StorageInterface, completion: @escaping @Sendable (Result<[MigrationType], StorageError>) -> Void
    ) -> MigrationProgress? {
        defaultStack.upgradeStorageIfNeeded(storage, on: .main, completion: completion)
    }
}

extension CustomSchemaMappingProvider.CustomMapping {
    /// Discards the objects of an entity.
    public static func deleteEntity(_ sourceEntity: String) -> Self { .deleteEntity(sourceEntity: sourceEntity) }

    /// Creates an entity without objects.
    public static func insertEntity(_ destinationEntity: String) -> Self { .insertEntity(destinationEntity: destinationEntity) }
}
