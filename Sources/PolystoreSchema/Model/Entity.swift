/// An index over properties of an entity, in a given order.
public struct Index: Sendable, Hashable {
    /// The kind of search that an index supports.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Searches for values and ranges of values, in their order.
        case ordered
        /// Searches for words in texts with `SEARCH`.
        case fullText
    }

    /// The attributes and to-one relationships, most significant first. A full-text index has a single attribute.
    public var properties: [String]
    /// The kind of search that the index supports.
    public var kind: Kind
    /// A condition on the object's own attributes that limits the objects in the index, as text. Nil for all objects.
    ///
    /// The condition consists of comparisons with constants, joined by `AND` and `OR`, in the syntax of predicates: Booleans with `==` and
    /// `!=`, integers and strings with all six operators, all other types only with nil. An engine uses the index automatically for a
    /// request that contains the same terms. Results never depend on the index: stores over ordered maps keep all objects in it.
    public var condition: String?

    /// Creates an index over the named properties, such as `Index(["age"], where: "isActive == true")`.
    public init(_ properties: [String], kind: Kind = .ordered, where condition: String? = nil) {
        self.properties = properties
        self.kind = kind
        self.condition = condition
    }
}

/// A rule that no two objects of an entity have the same values in all the named properties. Objects with a nil among these values are
/// exempt.
public struct UniqueConstraint: Sendable, Hashable {
    /// The attributes and to-one relationships.
    public var properties: [String]

    /// Creates a constraint over the named properties.
    public init(_ properties: [String]) { self.properties = properties }
}

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
