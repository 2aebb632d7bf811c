public import PolystoreSchema

/// An operand of a comparison, a sort key, or an output of a query. It is at most as deep as a `QueryPredicate`.
public struct QueryExpression: Sendable, Hashable {
    /// The outermost level of an expression.
    public indirect enum Node: Sendable, Hashable {
        /// The value of a property.
        case path(PropertyPath)
        /// The value of a property of an object outside a condition on related objects. Level 1 is the object that the related objects
        /// belong to, level 2 the next outer one.
        case outer(Int, PropertyPath)
        /// A constant.
        case value(Value)
        /// A named constant whose value is given later.
        case variable(String)
        /// A function of other expressions; nil if an argument is nil, except for `coalesce`.
        case function(Function, [QueryExpression])
        /// The first expression if the condition holds, otherwise the second.
        case conditional(QueryPredicate, QueryExpression, QueryExpression)
        /// An aggregate over the objects that a to-many relationship references.
        case related(RelatedAggregate)
        /// An aggregate over the objects of a group, valid only in a query for values.
        case aggregate(Aggregate)
    }

    /// The outermost level.
    public let node: Node
    /// The number of levels; one more than `QueryPredicate.deepest` for an expression that is too deep.
    let depth: Int

    init(_ node: Node, below depth: Int = 0) {
        self.depth = min(depth, QueryPredicate.deepest) + 1
        self.node = depth < QueryPredicate.deepest ? node : .value(.null)
    }

    /// Whether it was nested too deeply and its contents were discarded.
    var isTooDeep: Bool { depth > QueryPredicate.deepest }
}

extension QueryExpression {
    /// Returns an expression for the value of a property.
    public static func path(_ path: PropertyPath) -> QueryExpression { QueryExpression(.path(path)) }

    /// Returns an expression for the value of a property of an object outside a condition on related objects. Level 1 is the object that
    /// the related objects belong to, level 2 the next outer one, and level 0 the object itself.
    public static func outer(_ level: Int, _ path: PropertyPath) -> QueryExpression {
        level == 0 ? .path(path) : QueryExpression(.outer(level, path))
    }

    /// Returns a constant.
    public static func value(_ value: Value) -> QueryExpression { QueryExpression(.value(value)) }

    /// Returns a named constant whose value is given later; see `substituting(_:)`.
    public static func variable(_ name: String) -> QueryExpression { QueryExpression(.variable(name)) }

    /// Returns a function of other expressions; nil if an argument is nil, except for `coalesce`.
    public static func function(_ function: Function, _ arguments: [QueryExpression]) -> QueryExpression {
        QueryExpression(.function(function, arguments), below: arguments.reduce(0) { max($0, $1.depth) })
    }

    /// Returns an expression for the first expression if the condition holds, otherwise the second.
    public static func conditional(_ condition: QueryPredicate, _ a: QueryExpression, _ b: QueryExpression) -> QueryExpression {
        QueryExpression(.conditional(condition, a, b), below: max(condition.depth, a.depth, b.depth))
    }

    /// Returns an aggregate over the objects that a to-many relationship references.
    public static func related(_ aggregate: RelatedAggregate) -> QueryExpression {
        QueryExpression(.related(aggregate), below: aggregate.predicate?.depth ?? 0)
    }

    /// Returns an aggregate over the objects of a group, valid only in a query for values.
    public static func aggregate(_ aggregate: Aggregate) -> QueryExpression {
        QueryExpression(.aggregate(aggregate), below: aggregate.argument?.depth ?? 0)
    }
}
