/// A mapping that follows from two versions of a model, except for entities that a program maps itself.
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
    /// Makes objects of the newer version from one of the older.
    public typealias Transformer = MigrationMapping.Transformer

    /// What becomes of an entity.
    public enum CustomMapping: Sendable {
        /// The objects of an entity are left behind.
        case deleteEntity(sourceEntity: String)
        /// An entity begins without objects, whatever its name or former name; those of the older one have to be left behind or mapped.
        case insertEntity(destinationEntity: String)
        /// The objects of an entity become those of another, their properties followed by name.
        case copyEntity(sourceEntity: String, destinationEntity: String)
        /// The objects of an entity become what a closure makes of each. An entity can have several: it is split.
        case transformEntity(sourceEntity: String, destinationEntity: String, transformer: Transformer)
    }

    /// A transformer that copies what is followed by name.
    public static let inferredTransformation: Transformer = { source, create in create().copyAttributes(from: source) }

    /// The version that the mapping begins with.
    public let sourceVersion: String
    /// The version that it leads to.
    public let destinationVersion: String
    /// What becomes of entities.
    public let entityMappings: [CustomMapping]

    /// A mapping between two versions; entities that it does not name are followed by name.
    public init(from sourceVersion: String, to destinationVersion: String, entityMappings: [CustomMapping] = []) {
        self.sourceVersion = sourceVersion
        self.destinationVersion = destinationVersion
        self.entityMappings = entityMappings
    }

    /// The mapping for the two versions; nil for others.
    ///
    /// - Throws: `invalidConfiguration` for an entity that a version does not have, naming the nearest, for an abstract one and for one that
    ///   is left behind and mapped; `noMigrationPath` for what is still to be decided.
    public func mapping(from source: Schema, to destination: Schema) throws(StorageError) -> MigrationMapping? {
        guard source.version == sourceVersion, destination.version == destinationVersion else { return nil }
        var builder = CustomMappingBuilder(source, destination)
        for mapping in entityMappings { try builder.add(mapping) }
        let result = try builder.result()
        try result.check()
        return result
    }
}

/// Puts a program's mappings in the place of those that follow from the schemas.
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
                "entity \"\(name.name)\" of version \"\(schema.version)\" is abstract and has no objects of its own; map the entities below it"
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
                .invalidConfiguration, "entity \"\(source.entities[both].name)\" is left behind by one mapping and kept by another")
        }
        var schemas = SchemaMapping(from: source, to: destination)
        let decided = deleted.union(mapped)
        schemas.entities.removeAll { decided.contains($0.source) }
        if let lost = schemas.entities.first(where: { inserted.contains($0.destination) }) {
            throw StorageError(
                .invalidConfiguration,
                "entity \"\(destination.entities[lost.destination].name)\" begins without objects, and nothing says what becomes of those of "
                    + "\"\(source.entities[lost.source].name)\": name it in deleteEntity, or map it to another")
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
