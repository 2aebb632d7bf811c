internal import PolystoreStorage

/// The destination store of a new object: the store of a configuration, or the only one that holds its entity.
public struct Into<Object: ManagedObject>: Sendable, Hashable {
    /// The configuration; the outer nil for "not named".
    package let place: String??
    private let entityName: String?

    /// Selects the only store that holds the entity.
    public init() {
        place = nil
        entityName = nil
    }

    /// Selects the store of a configuration; nil is the one that holds all entities.
    public init(_ configuration: String?) {
        place = .some(configuration)
        entityName = nil
    }

    /// Selects the only store that holds an entity by its stored name, for `DynamicObject`s.
    public init(entity: String) {
        place = nil
        entityName = entity
    }

    /// Selects the store of a configuration for an entity by its stored name; nil is the one that holds all entities.
    public init(entity: String, _ configuration: String?) {
        place = .some(configuration)
        entityName = entity
    }

    /// Whether neither a configuration nor an entity is named.
    var isPlain: Bool { place == nil && entityName == nil }

    func entity(_ model: StackModel) throws(StorageError) -> EntityIndex {
        try (entityName.map(From<Object>.init(entity:)) ?? From<Object>()).entity(model)
    }
}
