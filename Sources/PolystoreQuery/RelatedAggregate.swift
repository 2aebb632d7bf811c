internal import PolystoreSchema

/// An aggregate over related objects, such as the number of friends, or the greatest age of those who are at home.
public struct RelatedAggregate: Sendable, Hashable {
    /// The aggregate function.
    public var function: AggregateFunction
    /// A path of relationships only, one of them to-many.
    public var relationship: PropertyPath
    /// The property of the objects at the end; nil only for a count of objects.
    public var property: PropertyPath?
    /// The condition on the aggregated objects; nil for all.
    public var predicate: QueryPredicate?

    /// Creates an aggregate over related objects.
    public init(
        _ function: AggregateFunction, _ relationship: PropertyPath, _ property: PropertyPath? = nil, where predicate: QueryPredicate? = nil
    ) {
        self.function = function
        self.relationship = relationship
        self.property = property
        self.predicate = predicate
    }
}
