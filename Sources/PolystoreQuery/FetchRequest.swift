/// One term of an order: what to sort by, and in which direction.
public struct OrderTerm: Sendable, Hashable {
    /// What is sorted by: a property, through to-one relationships, or something computed.
    public var expression: QueryExpression
    /// Whether small values come first; nil is the smallest.
    public var ascending: Bool

    /// A sort key.
    public init(_ path: PropertyPath, ascending: Bool = true) { self.init(.path(path), ascending: ascending) }

    /// A sort key that is computed.
    public init(_ expression: QueryExpression, ascending: Bool = true) {
        self.expression = expression
        self.ascending = ascending
    }
}

/// Which objects are wanted, in what order and how many; a value that can be sent, with names not yet checked.
public struct FetchRequest: Sendable, Hashable {
    /// The name of the entity.
    public var entity: String
    /// The condition; nil for all objects.
    public var predicate: QueryPredicate?
    /// The order; ties, and everything when there is no key, are ordered by object key.
    public var order: [OrderTerm]
    /// The greatest number of objects; nil for no limit.
    public var limit: Int?
    /// The number of objects to leave out at the beginning.
    public var offset: Int
    /// Whether objects of sub-entities are included.
    public var includesSubentities: Bool

    /// A request; everything but the entity may be left out.
    public init(
        _ entity: String, where predicate: QueryPredicate? = nil, orderBy order: [OrderTerm] = [], limit: Int? = nil,
        offset: Int = 0, includesSubentities: Bool = true
    ) {
        self.entity = entity
        self.predicate = predicate
        self.order = order
        self.limit = limit
        self.offset = offset
        self.includesSubentities = includesSubentities
    }
}
