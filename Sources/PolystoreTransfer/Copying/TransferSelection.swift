public import PolystoreStorage

/// The objects that a transfer copies.
public struct TransferSelection: Sendable, Hashable {
    /// The names of the entities whose objects are copied, with their sub-entities. Nil for all entities.
    public var only: Set<String>?
    /// The names of entities whose objects are not copied, nor those of their sub-entities.
    public var except: Set<String> = []
    /// The conditions that the objects of an entity must satisfy, by the name of the entity.
    public var conditions: [String: QueryPredicate] = [:]
    /// Whether the objects are copied to which a copied object refers by a to-one relationship, even if they are not chosen otherwise.
    public var followsReferences = false

    /// Creates a selection of all objects.
    public init() {}

    /// Whether all objects are chosen.
    public var isAll: Bool { only == nil && except.isEmpty && conditions.isEmpty }
}
