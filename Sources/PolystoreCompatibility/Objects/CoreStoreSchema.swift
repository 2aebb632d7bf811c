public import Polystore

/// A version of a model whose entities are subclasses of `CoreStoreObject`.
public struct CoreStoreSchema: DynamicSchema, Sendable {
    /// The name of the version.
    public let modelVersion: String
    /// The schema that results from the declarations.
    public let schema: Schema
    /// The classes of the entities.
    public var models: [ManagedObject.Type] { types }
    private let types: [CoreStoreObject.Type]

    /// Creates a version of a model.
    ///
    /// - Parameters:
    ///   - modelVersion: The name of the version.
    ///   - entities: The entities. A class belongs to a single schema: a later schema that declares it replaces the earlier one.
    ///   - entityConfigurations: The configurations of entities, by entity name.
    ///   - versionLock: The hash of each entity at its release. A declaration with another hash is refused. Without a lock, the one that
    ///     matches is logged.
    /// - Throws: `invalidConfiguration`, which names the first declaration that violates a rule, or the entities that do not match the
    ///   lock, together with the lock that would match.
    public init(
        modelVersion: String, entities: [any EntityDeclaration], entityConfigurations: [String: Set<String>] = [:],
        versionLock: VersionLock? = nil
    ) throws(StorageError) {
        self.modelVersion = modelVersion
        types = entities.map(\.type)
        var known = SchemaTypes(), prototypes: [CoreStoreObject] = []
        let probe = ObjectContext._prototypes()
        for entity in entities {
            _ = ConstructionFrame.take(nil)
            let prototype = entity.type.init(_new: 0, 0, probe)
            prototypes.append(prototype)
            known.add(entity, prototype)
        }
        var declarations: [Polystore.Entity] = []
        for (entity, prototype) in zip(entities, prototypes) {
            var declaration = Polystore.Entity(entity.entityName, isAbstract: entity.isAbstract)
            let parent = known.parent(of: prototype)
            declaration.parent = parent?.name
            let inherited = parent?.prototype.declaredFields.count ?? 0
            for field in prototype.declaredFields.dropLast(inherited) { try field.declare(&declaration, known) }
            try entity._complete(&declaration, prototype)
            declarations.append(declaration)
        }
        Self.mirror(&declarations)
        var configurations: [String: [String]] = [:]
        for (entity, names) in entityConfigurations { for name in names { configurations[name, default: []].append(entity) } }
        do throws(SchemaError) {
            schema = try Schema(version: modelVersion, entities: declarations, configurations: configurations.mapValues { $0.sorted() })
        } catch {
            throw StorageError(error)
        }
        for (index, prototype) in prototypes.enumerated() {
            // A schema orders its entities by name.
            guard let entity = schema.index(of: declarations[index].name) else { continue }
            let description = schema[entity]
            ClassLayout.register(
                ClassLayout(
                    declaration: schema.entities[entity], slotNames: description.slots.map(\.name),
                    slots: prototype.declaredFields.map { description.slot($0.keyPath) ?? -1 }, fieldCount: prototype.declaredFields.count),
                for: types[index])
        }
        Self.warnOfMissingInverses(schema)
        if let versionLock { try versionLock.check(schema) } else { Self.log(schema) }
    }

    /// Creates a version of a model from its entities and their configurations: `[Entity<Person>("Person"): ["A"], Entity<Pet>("Pet"): []]`.
    ///
    /// The configuration without a name has all entities.
    public init(
        modelVersion: String, entityConfigurations: KeyValuePairs<any EntityDeclaration, Set<String>>, versionLock: VersionLock? = nil
    ) throws(StorageError) {
        let pairs = entityConfigurations.map { ($0.key.entityName, $0.value) }
        try self.init(
            modelVersion: modelVersion, entities: entityConfigurations.map(\.key),
            entityConfigurations: Dictionary(pairs, uniquingKeysWith: { $0.union($1) }), versionLock: versionLock)
    }

    /// Creates a version of a model from the entities of each configuration: `["A": [Entity<Person>("Person")], "B": [Entity<Pet>("Pet")]]`. An
    /// entity can be in several of them.
    ///
    /// The configuration without a name has all entities.
    public init(
        modelVersion: String, entitiesByConfiguration: [String: [any EntityDeclaration]], versionLock: VersionLock? = nil
    ) throws(StorageError) {
        var entities: [any EntityDeclaration] = [], configurations: [String: Set<String>] = [:]
        for (configuration, members) in entitiesByConfiguration.sorted(by: { $0.key < $1.key }) {
            for entity in members {
                if !entities.contains(where: { $0.entityName == entity.entityName && $0.type == entity.type }) { entities.append(entity) }
                configurations[entity.entityName, default: []].insert(configuration)
            }
        }
        try self.init(
            modelVersion: modelVersion, entities: entities, entityConfigurations: configurations, versionLock: versionLock)
    }

    /// Logs the lock to paste for a version without one.
    private static func log(_ schema: Schema) {
        StoreLogging.log(.notice, "version \"\(schema.version)\" of the model is not locked; its versionLock is:\n\(schema.versionLock)")
    }

    /// Logs the relationships without an inverse, which is mostly one that was forgotten.
    private static func warnOfMissingInverses(_ schema: Schema) {
        let names = schema.entities.flatMap { entity in
            entity.relationships.filter { $0.inverse == nil }.map { "\(entity.name).\($0.name) (to \($0.destination))" }
        }
        if names.isEmpty { return }
        StoreLogging.log(
            .warning,
            "relationships without an inverse, whose changes are not seen from the other object: \(names.joined(separator: ", ")); "
                + "declare the inverse on one of the two sides with \"inverse:\"")
    }

    /// Sets each inverse on both sides, because declarations can name it on only one.
    private static func mirror(_ entities: inout [Polystore.Entity]) {
        for entity in entities {
            for relationship in entity.relationships {
                guard let inverse = relationship.inverse else { continue }
                for index in entities.indices {
                    for place in entities[index].relationships.indices
                    where entities[index].relationships[place].name == inverse
                        && entities[index].relationships[place].inverse == nil
                        && entities[index].name == relationship.destination
                    { entities[index].relationships[place].inverse = relationship.name }
                }
            }
        }
    }

    /// The version lock of the schema.
    public var versionLock: VersionLock { schema.versionLock }
}

extension DataStack {
    /// The schema of the stack. The name of `schema` in CoreStore.
    public var modelSchema: Schema { schema }
}

extension Schema {
    /// Returns the version lock as Swift source text.
    public func printCoreStoreSchema() -> String { versionLock.description }
}
