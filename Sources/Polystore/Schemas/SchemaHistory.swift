public import PolystoreStorage

/// The versions of a model, oldest first, and the way from each to the current one.
///
/// ```swift
/// let history = try SchemaHistory(v1, v2, v3, migrationChain: ["V1", "V2", "V3"])
/// let stack = try DataStack(schemaHistory: history)
/// ```
/// The current version is the one that is named as such, otherwise the last of the chain, otherwise the last schema.
public struct SchemaHistory: Sendable {
    /// The schemas in the order in which they were given.
    public let schemas: [Schema]
    /// Which version follows which.
    public let migrationChain: MigrationChain
    /// The schema of the current version: what a stack works with.
    public let currentSchema: Schema
    /// The classes that stand for entities of the current version; the others are `DynamicObject`s.
    public var models: [ManagedObject.Type]
    /// What steps may lose that is stored, by the paths of the changes: `Dog.age`, `Kennel`. A step that would lose anything else is refused.
    public var acceptedLosses: Set<String> = []
    /// What a program does before and after steps.
    public var stages: [MigrationStage] = []
    /// Whether a file is copied before a step that the program has a part in, to a file beside it: its name, the version and `.backup`.
    public var backsUpFiles = true

    /// A history of schemas.
    ///
    /// The first versions of a chain need no schema here: a store knows its own. Every version between them and the current one does.
    /// - Parameters:
    ///   - schemas: The schemas, oldest first, each version once.
    ///   - migrationChain: Which version follows which; without steps each leads straight to the current one.
    ///   - exactCurrentVersion: The current version, where it is not the last one, or the chain ends in several.
    ///   - models: The classes that stand for entities of the current version.
    /// - Throws: `invalidConfiguration` for a defective chain, a version that is there twice or missing, and a current version that is not
    ///   clear.
    public init(
        schemas: [Schema], migrationChain: MigrationChain = nil, exactCurrentVersion: String? = nil, models: [ManagedObject.Type] = []
    ) throws(StorageError) {
        try migrationChain.check()
        var known: [String: Schema] = [:]
        for schema in schemas where known.updateValue(schema, forKey: schema.version) != nil {
            throw StorageError(.invalidConfiguration, "version \"\(schema.version)\" of the model stands twice in the history")
        }
        let choice = CurrentVersion(versions: schemas.map(\.version), chain: migrationChain)
        let current = try choice.version(exactly: exactCurrentVersion)
        guard let schema = known[current] else { throw choice.missing(current) }
        try choice.checkWays(to: current)
        self.schemas = schemas
        self.migrationChain = migrationChain
        self.models = models
        currentSchema = schema
    }

    /// A history of schemas.
    public init(
        _ schemas: Schema..., migrationChain: MigrationChain = nil, exactCurrentVersion: String? = nil,
        models: [ManagedObject.Type] = []
    ) throws(StorageError) {
        try self.init(schemas: schemas, migrationChain: migrationChain, exactCurrentVersion: exactCurrentVersion, models: models)
    }

    /// The history of one version.
    init(current: Schema, models: [ManagedObject.Type] = []) {
        schemas = [current]
        migrationChain = nil
        currentSchema = current
        self.models = models
    }

    /// The name of the current version.
    public var currentVersion: String { currentSchema.version }

    /// The schema of a version, or nil.
    public func schema(for version: String) -> Schema? { schemas.first { $0.version == version } }
}

extension SchemaHistory: RandomAccessCollection {
    /// Zero.
    public var startIndex: Int { 0 }
    /// The number of schemas.
    public var endIndex: Int { schemas.count }
    /// The schema at a position, oldest first.
    public subscript(position: Int) -> Schema { schemas[position] }
}
