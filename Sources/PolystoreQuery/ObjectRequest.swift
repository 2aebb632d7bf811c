/// A request for objects: their entity, condition, order and number. A sendable value whose names are not yet checked.
public struct ObjectRequest: Sendable, Hashable {
    /// The name of the entity.
    public var entity: String
    /// The condition; nil for all objects.
    public var predicate: QueryPredicate?
    /// The order. Ties, and all objects if there is no sort key, are ordered by object key.
    public var order: [OrderTerm]
    /// The maximum number of objects; nil for no limit.
    public var limit: Int?
    /// The number of objects to skip.
    public var offset: Int
    /// Whether objects of sub-entities are included.
    public var includesSubentities: Bool

    /// Creates a request. Only the entity is required.
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
