public import Polystore

extension SchemaHistory {
    /// A history of CoreStore's own declarations, oldest first; the classes are those of the current version.
    public init(
        _ schemas: [CoreStoreSchema], migrationChain: MigrationChain = nil, exactCurrentModelVersion: String? = nil
    ) throws(StorageError) {
        try self.init(
            schemas: schemas.map(\.schema), migrationChain: migrationChain, exactCurrentVersion: exactCurrentModelVersion)
        models = schemas.first { $0.modelVersion == currentVersion }?.types ?? []
    }

    /// A history of CoreStore's own declarations, oldest first.
    public init(
        _ schema: CoreStoreSchema, _ more: CoreStoreSchema..., migrationChain: MigrationChain = nil,
        exactCurrentModelVersion: String? = nil
    ) throws(StorageError) {
        try self.init([schema] + more, migrationChain: migrationChain, exactCurrentModelVersion: exactCurrentModelVersion)
    }

    /// A history of CoreStore's own declarations, oldest first.
    public init(
        allSchema: [CoreStoreSchema], migrationChain: MigrationChain = nil, exactCurrentModelVersion: String? = nil
    ) throws(StorageError) {
        try self.init(allSchema, migrationChain: migrationChain, exactCurrentModelVersion: exactCurrentModelVersion)
    }

    /// CoreStore's name of `currentVersion`.
    public var currentModelVersion: String { currentVersion }
}
