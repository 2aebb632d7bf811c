/// Says what the step from one version of a model to another does, where a program knows better than the two schemas.
public protocol SchemaMappingProvider: Sendable {
    /// The mapping of a step; nil when this provider has nothing to say about it.
    ///
    /// - Throws: `noMigrationPath` or `invalidConfiguration` when it is meant for the step but does not fit the schemas.
    func mapping(from source: Schema, to destination: Schema) throws(StorageError) -> MigrationMapping?
}

/// What a step does: where everything comes from, and what the program does with single entities.
public struct MigrationMapping: Sendable {
    /// Makes objects of the newer version from one of the older.
    ///
    /// Called once for each object; it makes none, one or several. What it throws ends the step, which leaves the old version.
    public typealias Transformer =
        @Sendable (
            _ sourceObject: UnsafeSourceObject, _ createDestinationObject: () -> UnsafeDestinationObject
        ) throws -> Void

    /// Where everything comes from.
    public var schemas: SchemaMapping
    /// The transformer of an entity mapping, by its position in `schemas.entities`.
    public var transformers: [Int: Transformer]
    /// The entities of the older version whose objects and values the program has decided on: nothing of them is lost by mistake.
    public var decided: Set<EntityIndex>
    /// Whether it is what follows from the two schemas.
    public var isInferred: Bool { transformers.isEmpty && decided.isEmpty }

    /// A mapping.
    public init(_ schemas: SchemaMapping, transformers: [Int: Transformer] = [:], decided: Set<EntityIndex> = []) {
        self.schemas = schemas
        self.transformers = transformers
        self.decided = decided
    }
}

/// The mapping that follows from the two schemas: the last resort of every store.
public struct InferredSchemaMappingProvider: SchemaMappingProvider {
    /// A provider.
    public init() {}

    /// The mapping that follows from the two schemas.
    ///
    /// - Throws: `noMigrationPath` naming the first thing that has to be decided.
    public func mapping(from source: Schema, to destination: Schema) throws(StorageError) -> MigrationMapping? {
        let mapping = MigrationMapping(SchemaMapping(from: source, to: destination))
        try mapping.check()
        return mapping
    }
}

extension MigrationMapping {
    /// Refuses a mapping that leaves something open that does not follow from the two schemas.
    ///
    /// - Throws: `noMigrationPath` naming the first such thing and what to do.
    public func check() throws(StorageError) {
        guard let open = undecided.first, case .undecided(let question) = open.effect else { return }
        let (old, new) = (schemas.source.version, schemas.destination.version)
        throw StorageError(
            .noMigrationPath,
            "no mapping leads from version \"\(old)\" of the model to \"\(new)\": \(open.description), and the schemas do not say \(question); "
                + "decide it with a CustomSchemaMappingProvider")
    }

    /// The changes that do not follow from the two schemas, and that the program has not decided on.
    public var undecided: [SchemaChange] { changes.filter { !$0.isInferable } }

    /// What would be lost, and that the program has not decided on.
    public var losses: [SchemaChange] { changes.filter { $0.loss != nil } }

    /// The changes between the two schemas without those of entities that the program has decided on.
    private var changes: [SchemaChange] {
        let all = schemas.changes
        if decided.isEmpty { return all }
        let former = Set(decided.map { schemas.source.entities[$0].name })
        let new = Set(schemas.entities.filter { decided.contains($0.source) }.map { schemas.destination.entities[$0.destination].name })
        // What is new is named by its new name; an entity that keeps its objects can have got the name of one that was decided on.
        return all.filter { change in
            change.formerEntity.map { !former.contains($0) } ?? !new.contains(String(change.path.prefix { $0 != "." }))
        }
    }
}
