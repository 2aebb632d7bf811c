/// A mapping provider that infers the mapping between two versions of a model, except for entities that the program maps itself.
///
/// ```swift
/// CustomSchemaMappingProvider(from: "V2", to: "V3", entityMappings: [
///     .deleteEntity(sourceEntity: "Visit"),
///     .transformEntity(sourceEntity: "Person", destinationEntity: "Person") { source, create in
///         let person = create()
///         person.copyAttributes(from: source)
///         person["fullName"] = "\(source["firstName"] ?? "") \(source["lastName"] ?? "")"
///     },
/// ])
/// ```
public struct CustomSchemaMappingProvider: SchemaMappingProvider {
    /// A closure that creates objects of the newer version from an object of the older version.
    public typealias Transformer = MigrationMapping.Transformer

    /// The mapping of an entity.
    public enum CustomMapping: Sendable {
        /// Discards the objects of an entity.
        case deleteEntity(sourceEntity: String)
        /// Creates an entity without objects, regardless of its name or former name. The objects of the older entity must be discarded or
        /// mapped explicitly.
        case insertEntity(destinationEntity: String)
        /// Copies the objects of an entity to another entity. Properties are matched by name.
        case copyEntity(sourceEntity: String, destinationEntity: String)
        /// Passes each object of an entity to a closure that creates the new objects. An entity can have several such mappings, which split
        /// it. An attribute of both versions that no closure reads or assigns, and no other mapping of the entity copies, is a loss, which
        /// the step refuses unless it is accepted by name.
        case transformEntity(sourceEntity: String, destinationEntity: String, transformer: Transformer)
    }

    /// A transformer that copies the attributes matched by name.
    public static let inferredTransformation: Transformer = { source, create in create().copyAttributes(from: source) }

    /// The version at which the mapping starts.
    public let sourceVersion: String
    /// The version that the mapping produces.
    public let destinationVersion: String
    /// The mappings of entities.
    public let entityMappings: [CustomMapping]

    /// Creates a mapping between two versions. Entities that it does not name are matched by name.
    public init(from sourceVersion: String, to destinationVersion: String, entityMappings: [CustomMapping] = []) {
        self.sourceVersion = sourceVersion
        self.destinationVersion = destinationVersion
        self.entityMappings = entityMappings
    }

    /// Returns the mapping for the two versions of this provider, or nil for other versions.
    ///
    /// - Throws: `invalidConfiguration` for an entity that a version does not contain, naming the nearest one, for an abstract entity, and
    ///   for an entity that is both discarded and mapped; `noMigrationPath` for a change that remains undecided.
    public func mapping(from source: Schema, to destination: Schema) throws(StorageError) -> MigrationMapping? {
        guard source.version == sourceVersion, destination.version == destinationVersion else { return nil }
        var builder = CustomMappingBuilder(source, destination)
        for mapping in entityMappings { try builder.add(mapping) }
        let result = try builder.result()
        try result.check()
        return result
    }
}

/// Replaces inferred entity mappings with those of the program.
private struct CustomMappingBuilder {
    private let source: Schema
    private let destination: Schema
    private var own: [(mapping: EntityMapping, transformer: MigrationMapping.Transformer?)] = []
    private var deleted: Set<EntityIndex> = []
    private var inserted: Set<EntityIndex> = []

    init(_ source: Schema, _ destination: Schema) {
        self.source = source
        self.destination = destination
    }

    mutating func add(_ mapping: CustomSchemaMappingProvider.CustomMapping) throws(StorageError) {
        switch mapping {
        case .deleteEntity(let name): deleted.insert(try entity(name, source))
        case .insertEntity(let name): inserted.insert(try entity(name, destination))
        case .copyEntity(let before, let after): try add(before, after, nil)
        case .transformEntity(let before, let after, let transformer): try add(before, after, transformer)
        }
    }

    private mutating func add(
        _ before: String, _ after: String, _ transformer: MigrationMapping.Transformer?
    ) throws(StorageError) {
        let before = source[try entity(before, source)], after = destination[try entity(after, destination)]
        for (name, schema) in [(before, source), (after, destination)] where name.isAbstract {
            throw StorageError(
                .invalidConfiguration,
                "entity \"\(name.name)\" of version \"\(schema.version)\" is abstract and has no objects of its own; map its child entities"
            )
        }
        own.append((EntityMapping(from: before, source, to: after, destination), transformer))
    }

    private func entity(_ name: String, _ schema: Schema) throws(StorageError) -> EntityIndex {
        if let index = schema.index(of: name) { return index }
        throw StorageError(
            .invalidConfiguration,
            "version \"\(schema.version)\" of the model has no entity \"\(name)\"\(Suggestion.nearest(name, in: schema.entities.map(\.name)))"
        )
    }

    func result() throws(StorageError) -> MigrationMapping {
        let mapped = Set(own.map(\.mapping.source))
        if let both = deleted.intersection(mapped).min() {
            throw StorageError(
                .invalidConfiguration,
                "entity \"\(source.entities[both].name)\" is deleted by one mapping and migrated by another; remove one of the two")
        }
        var schemas = SchemaMapping(from: source, to: destination)
        let decided = deleted.union(mapped)
        schemas.entities.removeAll { decided.contains($0.source) }
        if let lost = schemas.entities.first(where: { inserted.contains($0.destination) }) {
            throw StorageError(
                .invalidConfiguration,
                "entity \"\(destination.entities[lost.destination].name)\" is mapped with insertEntity and starts without objects, but no "
                    + "mapping covers the objects of \"\(source.entities[lost.source].name)\": map it with deleteEntity, or to another "
                    + "entity")
        }
        var transformers: [Int: MigrationMapping.Transformer] = [:]
        for (mapping, transformer) in own {
            transformers[schemas.entities.count] = transformer
            schemas.entities.append(mapping)
        }
        schemas.settle()
        return MigrationMapping(schemas, transformers: transformers, decided: decided)
    }
}
