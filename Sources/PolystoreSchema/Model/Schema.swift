/// The position of an entity in its schema.
public typealias EntityIndex = Int

/// The entities of one version of a model, checked, with everything that stores and objects derive from them.
///
/// A schema is a value: it is immutable, can be sent anywhere, and is equal to another with the same declarations. Making one checks
/// every rule, so that whoever holds a schema need not. Entities stand in a canonical order: parents before children, otherwise by
/// name in UTF-8 order.
public struct Schema: Sendable {
    final class Storage: Sendable {
        let version: String
        let entities: [Entity]
        let configurations: [String: [String]]
        let indexByName: [String: EntityIndex]
        let hierarchies: [EntityDescription]
        let links: [LinkDescription]
        let hash: SchemaHash

        init(
            version: String, entities: [Entity], configurations: [String: [String]], indexByName: [String: EntityIndex],
            hierarchies: [EntityDescription], links: [LinkDescription], hash: SchemaHash
        ) {
            self.version = version
            self.entities = entities
            self.configurations = configurations
            self.indexByName = indexByName
            self.hierarchies = hierarchies
            self.links = links
            self.hash = hash
        }
    }

    let storage: Storage

    /// A checked schema.
    ///
    /// - Parameters:
    ///   - version: The name of the model's version.
    ///   - entities: The entities, in any order.
    ///   - configurations: Named subsets of the entities, each to be kept in a store of its own.
    /// - Throws: `SchemaError` naming the first place that breaks a rule.
    public init(version: String = "1", entities: [Entity], configurations: [String: [String]] = [:]) throws(SchemaError) {
        storage = try SchemaResolver(version: version, entities: entities, configurations: configurations).resolve()
    }

    /// The name of the model's version.
    public var version: String { storage.version }
    /// The declared entities in canonical order.
    public var entities: [Entity] { storage.entities }
    /// Named subsets of the entities.
    public var configurations: [String: [String]] { storage.configurations }
    /// What is derived of each entity, in the order of `entities`.
    public var descriptions: [EntityDescription] { storage.hierarchies }
    /// The link tables that the relationships need.
    public var links: [LinkDescription] { storage.links }
    /// The hash of everything that decides what is stored.
    public var hash: SchemaHash { storage.hash }

    /// The index of an entity, or nil.
    public func index(of name: String) -> EntityIndex? { storage.indexByName[name] }

    /// What is derived of the entity at an index.
    public subscript(index: EntityIndex) -> EntityDescription { storage.hierarchies[index] }

    /// The entities that are not inside another one: each has a table of its own.
    public var roots: [EntityIndex] { descriptions.indices.filter { descriptions[$0].root == $0 } }
}

extension Schema: Hashable {
    /// Whether the declarations are the same, version name included.
    public static func == (a: Schema, b: Schema) -> Bool {
        a.storage === b.storage
            || (a.version == b.version && a.entities == b.entities && a.configurations == b.configurations)
    }

    /// Feeds version name and schema hash.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(hash)
    }
}

extension Schema {
    /// The schema without entities.
    public static let empty = Schema(
        storage: Storage(
            version: "", entities: [], configurations: [:], indexByName: [:], hierarchies: [], links: [], hash: SchemaHash(of: "")))

    private init(storage: Storage) { self.storage = storage }
}

extension Schema: CustomStringConvertible {
    /// The version, and the entities with their properties.
    public var description: String {
        let texts = entities.map { "\($0.name)(\(($0.attributes.map(\.name) + $0.relationships.map(\.name)).joined(separator: ", ")))" }
        return "Schema\(version.isEmpty ? "" : " \(version)"): \(texts.joined(separator: ", "))"
    }
}
