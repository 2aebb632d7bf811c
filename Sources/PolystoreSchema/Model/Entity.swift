/// The description of a kind of object.
public struct Entity: Sendable, Hashable {
    /// The stored name.
    public var name: String
    /// The name of the parent entity, whose properties are inherited.
    public var parent: String?
    /// Whether only subentities can have objects.
    public var isAbstract: Bool
    /// The entity's own attributes, in order, without inherited ones.
    public var attributes: [Attribute]
    /// The entity's own relationships, in order.
    public var relationships: [Relationship]
    /// The entity's own indexes.
    public var indexes: [Index]
    /// The entity's own unique constraints, which also apply to subentities. They do not apply to objects of parent entities, not even to
    /// attributes inherited from these.
    public var uniqueConstraints: [UniqueConstraint]
    /// The name of the entity in the previous version, if it was renamed.
    public var originalName: String?

    /// Creates an entity. Only the name is required.
    public init(
        _ name: String, parent: String? = nil, isAbstract: Bool = false, attributes: [Attribute] = [], relationships: [Relationship] = [],
        indexes: [Index] = [], uniqueConstraints: [UniqueConstraint] = [], originalName: String? = nil
    ) {
        self.name = name
        self.parent = parent
        self.isAbstract = isAbstract
        self.attributes = attributes
        self.relationships = relationships
        self.indexes = indexes
        self.uniqueConstraints = uniqueConstraints
        self.originalName = originalName
    }
}
