/// An index over properties of an entity, in order.
public struct Index: Sendable, Hashable {
    /// The attributes and to-one relationships, most significant first.
    public var properties: [String]

    /// An index over the named properties.
    public init(_ properties: [String]) { self.properties = properties }
}

/// A rule that no two objects of an entity agree in all of the named attributes; objects with a nil among them are exempt.
public struct UniqueConstraint: Sendable, Hashable {
    /// The attributes and to-one relationships.
    public var properties: [String]

    /// A constraint over the named properties.
    public init(_ properties: [String]) { self.properties = properties }
}

/// An entity: the description of a kind of object.
public struct Entity: Sendable, Hashable {
    /// The stored name.
    public var name: String
    /// The name of the parent entity, whose properties are inherited.
    public var parent: String?
    /// Whether only sub-entities can have objects.
    public var isAbstract: Bool
    /// Its own attributes, in order; inherited ones are not repeated.
    public var attributes: [Attribute]
    /// Its own relationships, in order.
    public var relationships: [Relationship]
    /// Its indexes.
    public var indexes: [Index]
    /// Its unique constraints, which also bind sub-entities.
    public var uniqueConstraints: [UniqueConstraint]
    /// The name that the entity had in the previous version, when it was renamed.
    public var originalName: String?

    /// An entity; everything but the name may be left out.
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
