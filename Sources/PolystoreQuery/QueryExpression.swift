public import PolystoreSchema

/// What can stand on either side of a comparison, be sorted by, or be asked for by a query; as deep as a `QueryPredicate` at most.
public struct QueryExpression: Sendable, Hashable {
    /// What an expression is at its outermost level.
    public indirect enum Node: Sendable, Hashable {
        /// The value of a property.
        case path(PropertyPath)
        /// The value of a property of an object outside of a condition on related objects: of the one whose they are for 1, of the one
        /// outside of that for 2.
        case outer(Int, PropertyPath)
        /// A constant.
        case value(Value)
        /// A constant that is given later, by its name.
        case variable(String)
        /// A function of other expressions; nil where an argument is nil, except for `coalesce`.
        case function(Function, [QueryExpression])
        /// The first expression where the condition holds, else the second.
        case conditional(QueryPredicate, QueryExpression, QueryExpression)
        /// An aggregate over the objects that a to-many relationship leads to.
        case related(RelatedAggregate)
        /// An aggregate over the objects of a group; only in a query for values.
        case aggregate(Aggregate)
    }

    /// What it is.
    public let node: Node
    /// The number of levels; one more than `QueryPredicate.deepest` for what is too deep.
    let depth: Int

    init(_ node: Node, below depth: Int = 0) {
        self.depth = min(depth, QueryPredicate.deepest) + 1
        self.node = depth < QueryPredicate.deepest ? node : .value(.null)
    }

    /// Whether it was nested too deep to be kept.
    var isTooDeep: Bool { depth > QueryPredicate.deepest }
}

extension QueryExpression {
    /// The value of a property.
    public static func path(_ path: PropertyPath) -> QueryExpression { QueryExpression(.path(path)) }

    /// The value of a property of an object outside of a condition on related objects: of the one whose they are for 1, of the one
    /// outside of that for 2; of the object itself for 0.
    public static func outer(_ level: Int, _ path: PropertyPath) -> QueryExpression {
        level == 0 ? .path(path) : QueryExpression(.outer(level, path))
    }

    /// A constant.
    public static func value(_ value: Value) -> QueryExpression { QueryExpression(.value(value)) }

    /// A constant that is given later, by its name; see `substituting(_:)`.
    public static func variable(_ name: String) -> QueryExpression { QueryExpression(.variable(name)) }

    /// A function of other expressions; nil where an argument is nil, except for `coalesce`.
    public static func function(_ function: Function, _ arguments: [QueryExpression]) -> QueryExpression {
        QueryExpression(.function(function, arguments), below: arguments.reduce(0) { max($0, $1.depth) })
    }

    /// The first expression where the condition holds, else the second.
    public static func conditional(_ condition: QueryPredicate, _ a: QueryExpression, _ b: QueryExpression) -> QueryExpression {
        QueryExpression(.conditional(condition, a, b), below: max(condition.depth, a.depth, b.depth))
    }

    /// An aggregate over the objects that a to-many relationship leads to.
    public static func related(_ aggregate: RelatedAggregate) -> QueryExpression {
        QueryExpression(.related(aggregate), below: aggregate.predicate?.depth ?? 0)
    }

    /// An aggregate over the objects of a group; only in a query for values.
    public static func aggregate(_ aggregate: Aggregate) -> QueryExpression {
        QueryExpression(.aggregate(aggregate), below: aggregate.argument?.depth ?? 0)
    }
}

/// An aggregate over related objects: the number of friends, or the greatest age of those who are at home.
public struct RelatedAggregate: Sendable, Hashable {
    /// What is computed.
    public var function: AggregateFunction
    /// Relationships, one of them to-many; nothing else.
    public var relationship: PropertyPath
    /// The property of the objects at the end; nil only for a count of objects.
    public var property: PropertyPath?
    /// Which of the objects count; nil for all.
    public var predicate: QueryPredicate?

    /// An aggregate over related objects.
    public init(
        _ function: AggregateFunction, _ relationship: PropertyPath, _ property: PropertyPath? = nil, where predicate: QueryPredicate? = nil
    ) {
        self.function = function
        self.relationship = relationship
        self.property = property
        self.predicate = predicate
    }
}
