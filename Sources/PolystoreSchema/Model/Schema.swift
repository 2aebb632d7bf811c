/// The position of an entity in its schema.
public typealias EntityIndex = Int

/// The entities of one version of a model, checked, together with all derived information that stores and objects need.
///
/// A schema is an immutable value. It is sendable, and equal to another schema with the same declarations. Initialisers check every rule,
/// so code that receives a schema need not check it. Entities are in a canonical order: parents before children, otherwise by name in UTF-8
/// order.
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

    /// Creates a schema from declarations and checks them.
    ///
    /// - Parameters:
    ///   - version: The name of the model's version.
    ///   - entities: The entities, in any order.
    ///   - configurations: Named subsets of the entities, each of which is kept in a store of its own.
    /// - Throws: `SchemaError`, which names the first declaration that violates a rule.
    public init(version: String = "1", entities: [Entity], configurations: [String: [String]] = [:]) throws(SchemaError) {
        storage = try SchemaResolver(version: version, entities: entities, configurations: configurations).resolve()
    }

    /// The name of the model's version.
    public var version: String { storage.version }
    /// The declared entities, in canonical order.
    public var entities: [Entity] { storage.entities }
    /// Named subsets of the entities.
    public var configurations: [String: [String]] { storage.configurations }
    /// The derived description of each entity, in the order of `entities`.
    public var descriptions: [EntityDescription] { storage.hierarchies }
    /// The link tables that the relationships require.
    public var links: [LinkDescription] { storage.links }
    /// The hash of all declarations that determine the stored form.
    public var hash: SchemaHash { storage.hash }

    /// Returns the index of an entity, or nil.
    public func index(of name: String) -> EntityIndex? { storage.indexByName[name] }

    /// The derived description of the entity at an index.
    public subscript(index: EntityIndex) -> EntityDescription { storage.hierarchies[index] }

    /// The entities without a parent. Each has a table of its own.
    public var roots: [EntityIndex] { descriptions.indices.filter { descriptions[$0].root == $0 } }
}

extension Schema: Hashable {
    /// Whether the declarations are equal, including the version name.
    public static func == (a: Schema, b: Schema) -> Bool {
        a.storage === b.storage
            || (a.version == b.version && a.entities == b.entities && a.configurations == b.configurations)
    }

    /// Hashes the version name and the schema hash.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(version)
        hasher.combine(hash)
    }
}

extension Schema {
    /// A schema without entities.
    public static let empty = Schema(
        storage: Storage(
            version: "", entities: [], configurations: [:], indexByName: [:], hierarchies: [], links: [], hash: SchemaHash(of: "")))

    private init(storage: Storage) { self.storage = storage }
}

extension Schema: CustomStringConvertible {
    /// The version, and the entities with their property names.
    public var description: String {
        let texts = entities.map { "\($0.name)(\(($0.attributes.map(\.name) + $0.relationships.map(\.name)).joined(separator: ", ")))" }
        return "Schema\(version.isEmpty ? "" : " \(version)"): \(texts.joined(separator: ", "))"
    }
}
