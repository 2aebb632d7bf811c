public import Polystore

/// A version of a model in any form: declared in Swift, read from Xcode's model, or a `Schema`. A history takes versions of all forms in
/// one list: `SchemaHistory(legacySchema + [newSchema])`.
public protocol DynamicSchema {
    /// The name of the version.
    var modelVersion: String { get }
    /// The schema of the version.
    var schema: Schema { get }
    /// The classes of its entities. Other entities use `DynamicObject`.
    var models: [ManagedObject.Type] { get }
}

extension Schema: DynamicSchema {
    /// The name of the version.
    public var modelVersion: String { version }
    /// The schema itself.
    public var schema: Schema { self }
    /// Empty.
    public var models: [ManagedObject.Type] { [] }
}

extension XcodeDataModel.Version: DynamicSchema {
    /// The name of the version.
    public var modelVersion: String { name }
    /// Empty.
    public var models: [ManagedObject.Type] { [] }
}

extension SchemaHistory {
    /// Creates a history from versions in any form, oldest first. The classes are those of the current version.
    ///
    /// - Throws: `invalidConfiguration`, as for a history of schemas.
    public init(
        _ schemas: [any DynamicSchema], migrationChain: MigrationChain = nil, exactCurrentModelVersion: String? = nil
    ) throws(StorageError) {
        try self.init(
            schemas: schemas.map(\.schema), migrationChain: migrationChain, exactCurrentVersion: exactCurrentModelVersion)
        models = schemas.first { $0.modelVersion == currentVersion }?.models ?? []
    }

    /// Creates a history from versions in any form, oldest first.
    @_disfavoredOverload
    public init(
        _ schema: any DynamicSchema, _ more: any DynamicSchema..., migrationChain: MigrationChain = nil,
        exactCurrentModelVersion: String? = nil
    ) throws(StorageError) {
        try self.init([schema] + more, migrationChain: migrationChain, exactCurrentModelVersion: exactCurrentModelVersion)
    }

    /// Creates a history from versions in any form, oldest first.
    public init(
        allSchema: [any DynamicSchema], migrationChain: MigrationChain = nil, exactCurrentModelVersion: String? = nil
    ) throws(StorageError) {
        try self.init(allSchema, migrationChain: migrationChain, exactCurrentModelVersion: exactCurrentModelVersion)
    }

    /// Creates a history from the versions of an Xcode model. Its current version is that of the model.
    public init(_ versions: XcodeDataModelVersions, migrationChain: MigrationChain = nil) throws(StorageError) {
        try self.init(
            versions.allSchema, migrationChain: migrationChain, exactCurrentModelVersion: versions.currentModelVersion)
    }

    /// The name of the current version. The name of `currentVersion` in CoreStore.
    public var currentModelVersion: String { currentVersion }
}

extension DataStack {
    /// Creates a stack without stores from versions in any form, oldest first. The stack uses the last version of the chain.
    @_disfavoredOverload
    public convenience init(
        _ schema: any DynamicSchema, _ more: any DynamicSchema..., migrationChain: MigrationChain = nil
    ) throws(StorageError) {
        try self.init(schemaHistory: SchemaHistory([schema] + more, migrationChain: migrationChain))
    }
}
