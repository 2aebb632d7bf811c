/// The mapping of a migration step: the origin of every part of the newer schema, and the program's transformers of single entities.
public struct MigrationMapping: Sendable {
    /// A closure that creates objects of the newer version from an object of the older version.
    ///
    /// It is called once for each object, and creates none, one, or several. If it throws, the step ends and the store keeps the old
    /// version.
    public typealias Transformer =
        @Sendable (
            _ sourceObject: UnsafeSourceObject, _ createDestinationObject: () -> UnsafeDestinationObject
        ) throws -> Void

    /// The origin of every part of the newer schema.
    public var schemas: SchemaMapping
    /// The transformers of entity mappings, by position in `schemas.entities`.
    public var transformers: [Int: Transformer]
    /// The entities of the older version whose objects and values the program has mapped explicitly. Their losses are intentional.
    public var decided: Set<EntityIndex>
    /// Whether the mapping was inferred from the two schemas.
    public var isInferred: Bool { transformers.isEmpty && decided.isEmpty }

    /// Creates a mapping.
    public init(_ schemas: SchemaMapping, transformers: [Int: Transformer] = [:], decided: Set<EntityIndex> = []) {
        self.schemas = schemas
        self.transformers = transformers
        self.decided = decided
    }
}

extension MigrationMapping {
    /// Refuses a mapping with a change that cannot be inferred from the two schemas and that the program has not decided.
    ///
    /// - Throws: `noMigrationPath`, which names the first such change and a remedy.
    public func check() throws(StorageError) { try check(exceptAdditions: false) }

    /// - Parameter exceptAdditions: Whether work of the program after the step gives values to new properties.
    package func check(exceptAdditions: Bool) throws(StorageError) {
        guard let open = undecided.first(where: { !exceptAdditions || !$0.isAddition }), case .undecided(let question) = open.effect else {
            return
        }
        let (old, new) = (schemas.source.version, schemas.destination.version)
        throw StorageError(
            .noMigrationPath,
            "no mapping from version \"\(old)\" of the model to \"\(new)\" can be inferred: \(open.description), and the schemas do not "
                + "say \(question); define it with a CustomSchemaMappingProvider")
    }

    /// The changes that cannot be inferred from the two schemas and that the program has not decided.
    public var undecided: [SchemaChange] { changes.filter { !$0.isInferable } }

    /// The changes that would lose data and that the program has not decided.
    public var losses: [SchemaChange] { changes.filter { $0.loss != nil } }

    /// The changes between the two schemas, without those of entities that the program has mapped explicitly.
    private var changes: [SchemaChange] {
        let all = schemas.changes
        if decided.isEmpty { return all }
        let former = Set(decided.map { schemas.source.entities[$0].name })
        let new = Set(schemas.entities.filter { decided.contains($0.source) }.map { schemas.destination.entities[$0.destination].name })
        // New parts are identified by their new names. An entity that keeps its objects can have received the name of an explicitly mapped
        // one.
        return all.filter { change in
            change.formerEntity.map { !former.contains($0) } ?? !new.contains(String(change.path.prefix { $0 != "." }))
        }
    }
}
