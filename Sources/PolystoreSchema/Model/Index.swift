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

extension Index {
    /// Returns the index with other names of properties, also in its condition.
    package func renaming(_ names: [String: String]) -> Index {
        Index(
            properties.map { names[$0] ?? $0 }, kind: kind, where: condition.map { IndexCondition.renaming(names, in: $0) })
    }
}
