/// An index over properties of an entity, in order.
public struct Index: Sendable, Hashable {
    /// What an index helps to find.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Values and ranges of values, in their order.
        case ordered
        /// Texts by the words in them: what `SEARCH` asks for.
        case fullText
    }

    /// The attributes and to-one relationships, most significant first; of a full-text index one attribute.
    public var properties: [String]
    /// What it helps to find.
    public var kind: Kind
    /// Which objects are in it, as the text of a condition on their own attributes; nil for all.
    ///
    /// Comparisons with constants joined by `AND` and `OR`, as in a predicate: bools by `==` and `!=`, whole numbers and texts by all six
    /// signs, everything else with nil. An engine uses the index by itself for a request that asks for the same terms. Answers never
    /// depend on it: the stores over ordered maps keep all objects in it.
    public var condition: String?

    /// An index over the named properties, such as `Index(["age"], where: "isActive == true")`.
    public init(_ properties: [String], kind: Kind = .ordered, where condition: String? = nil) {
        self.properties = properties
        self.kind = kind
        self.condition = condition
    }
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
    /// Its unique constraints, which also bind sub-entities. Objects of entities above are free, also in attributes that are inherited.
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
