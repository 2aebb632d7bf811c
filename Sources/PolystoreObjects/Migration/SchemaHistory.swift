public import PolystoreStorage

/// The versions of a model, oldest first, and the path from each to the current one.
///
/// ```swift
/// let history = try SchemaHistory(v1, v2, v3, migrationChain: ["V1", "V2", "V3"])
/// let stack = try DataStack(schemaHistory: history)
/// ```
/// The current version is the one specified as such, otherwise the last one of the chain, otherwise the last schema.
public struct SchemaHistory: Sendable {
    /// The schemas in the order in which they were given.
    public let schemas: [Schema]
    /// The order of the versions.
    public let migrationChain: MigrationChain
    /// The schema of the current version, which a stack uses.
    public let currentSchema: Schema
    /// The classes for entities of the current version. Other entities use `DynamicObject`.
    public var models: [ManagedObject.Type]
    /// The stored data that steps may lose, by the paths of the changes: `Dog.age`, `Kennel`. A step that would lose other data is refused.
    public var acceptedLosses: Set<String> = []
    /// The work of the program before and after steps.
    public var stages: [MigrationStage] = []
    /// Whether a file is copied before a migration in which a step has custom work of the program, to a file next to it: its name, the version
    /// that it has before the first step, and `.backup`.
    public var backsUpFiles = true

    /// Creates a history from schemas.
    ///
    /// The first versions of a chain need no schema here, because a store contains its own. Every version between them and the current one
    /// needs one.
    /// - Parameters:
    ///   - schemas: The schemas, oldest first, each version once.
    ///   - migrationChain: The order of the versions. Without steps each version is migrated directly to the current one.
    ///   - exactCurrentVersion: The current version, if it is not the last one or the chain has several ends.
    ///   - models: The classes for entities of the current version.
    /// - Throws: `invalidConfiguration` for an invalid chain, for a duplicate or missing version, for an ambiguous current version, and for a
    ///   step that exchanges the names of declarations of the same shape.
    public init(
        schemas: [Schema], migrationChain: MigrationChain = nil, exactCurrentVersion: String? = nil, models: [ManagedObject.Type] = []
    ) throws(StorageError) {
        try migrationChain.check()
        var known: [String: Schema] = [:]
        for schema in schemas where known.updateValue(schema, forKey: schema.version) != nil {
            throw StorageError(.invalidConfiguration, "version \"\(schema.version)\" of the model is in the history twice")
        }
        let choice = CurrentVersion(versions: schemas.map(\.version), chain: migrationChain)
        let current = try choice.version(exactly: exactCurrentVersion)
        guard let schema = known[current] else { throw choice.missing(current) }
        try choice.checkWays(to: current)
        for older in schemas { for newer in schemas { try Self.checkStep(older, newer, migrationChain, current) } }
        self.schemas = schemas
        self.migrationChain = migrationChain
        self.models = models
        currentSchema = schema
    }

    /// Creates a history from schemas.
    public init(
        _ schemas: Schema..., migrationChain: MigrationChain = nil, exactCurrentVersion: String? = nil,
        models: [ManagedObject.Type] = []
    ) throws(StorageError) {
        try self.init(schemas: schemas, migrationChain: migrationChain, exactCurrentVersion: exactCurrentVersion, models: models)
    }

    /// Throws if a step between two versions would exchange the names of declarations without a store noticing it.
    private static func checkStep(_ older: Schema, _ newer: Schema, _ chain: MigrationChain, _ current: String) throws(StorageError) {
        let next = chain.hasSteps ? chain.path(from: older.version, to: current)?.dropFirst().first : current
        guard next == newer.version else { return }
        let paths = newer.exchangedNames(since: older)
        if paths.isEmpty { return }
        throw StorageError(
            .invalidConfiguration,
            "version \"\(newer.version)\" of the model exchanges the names of \(paths.prefix(8).joined(separator: ", ")), which is not seen in a "
                + "store of version \"\(older.version)\", because both versions are stored alike; rename one of them to a third name in a "
                + "version between them")
    }

    /// Creates a history of one version.
    init(current: Schema, models: [ManagedObject.Type] = []) {
        schemas = [current]
        migrationChain = nil
        currentSchema = current
        self.models = models
    }

    /// The name of the current version.
    public var currentVersion: String { currentSchema.version }

    /// Returns the schema of a version, or nil.
    public func schema(for version: String) -> Schema? { schemas.first { $0.version == version } }
}

extension SchemaHistory: RandomAccessCollection {
    /// Zero.
    public var startIndex: Int { 0 }
    /// The number of schemas.
    public var endIndex: Int { schemas.count }
    /// Returns the schema at a position, oldest first.
    public subscript(position: Int) -> Schema { schemas[position] }
}
