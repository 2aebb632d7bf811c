public import Polystore

extension SchemaHistory {
    /// Creates a history from declarations in the form of CoreStore, oldest first. The classes are those of the current version.
    public init(
        _ schemas: [CoreStoreSchema], migrationChain: MigrationChain = nil, exactCurrentModelVersion: String? = nil
    ) throws(StorageError) {
        try self.init(
            schemas: schemas.map(\.schema), migrationChain: migrationChain, exactCurrentVersion: exactCurrentModelVersion)
        models = schemas.first { $0.modelVersion == currentVersion }?.types ?? []
    }

    /// Creates a history from declarations in the form of CoreStore, oldest first.
    public init(
        _ schema: CoreStoreSchema, _ more: CoreStoreSchema..., migrationChain: MigrationChain = nil,
        exactCurrentModelVersion: String? = nil
    ) throws(StorageError) {
        try self.init([schema] + more, migrationChain: migrationChain, exactCurrentModelVersion: exactCurrentModelVersion)
    }

    /// Creates a history from declarations in the form of CoreStore, oldest first.
    public init(
        allSchema: [CoreStoreSchema], migrationChain: MigrationChain = nil, exactCurrentModelVersion: String? = nil
    ) throws(StorageError) {
        try self.init(allSchema, migrationChain: migrationChain, exactCurrentModelVersion: exactCurrentModelVersion)
    }

    /// The name of the current version. The name of `currentVersion` in CoreStore.
    public var currentModelVersion: String { currentVersion }
}
