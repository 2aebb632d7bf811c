/// One aggregate: a function over something of each object, or over the objects themselves.
public struct Aggregate: Sendable, Hashable {
    /// What is computed.
    public var function: AggregateFunction
    /// What it is computed over; nil only for a count of objects.
    public var argument: QueryExpression?

    /// An aggregate over a property, or over objects.
    public init(_ function: AggregateFunction, _ path: PropertyPath? = nil) {
        self.function = function
        argument = path.map(QueryExpression.path)
    }

    /// An aggregate over an expression.
    public init(_ function: AggregateFunction, of expression: QueryExpression) {
        self.function = function
        argument = expression
    }
}

/// One value in each row of a query's answer.
public struct QueryOutput: Sendable, Hashable {
    /// What is asked for: beside aggregates only of grouping keys and aggregates.
    public var expression: QueryExpression
    /// The name in the answer, such as `age` or `average(age)` where none is given.
    public var alias: String

    /// An output; without an alias it is called what it is.
    public init(_ expression: QueryExpression, as alias: String? = nil) {
        self.expression = expression
        self.alias = alias ?? Self.name(expression)
    }

    /// The value of a property, which must be among the grouping keys when there are aggregates.
    public static func property(_ path: PropertyPath, as alias: String? = nil) -> QueryOutput { QueryOutput(.path(path), as: alias) }

    /// An aggregate over the group.
    public static func aggregate(_ aggregate: Aggregate, as alias: String? = nil) -> QueryOutput {
        QueryOutput(.aggregate(aggregate), as: alias)
    }

    private static func name(_ expression: QueryExpression) -> String {
        switch expression.node {
        case .path(let path): path.description
        case .aggregate(let aggregate): "\(aggregate.function.rawValue)(\(aggregate.argument.map(name) ?? ""))"
        case .related(let aggregate) where aggregate.predicate == nil:
            "\(aggregate.function.rawValue)(\(PropertyPath(aggregate.relationship.names + (aggregate.property?.names ?? []))))"
        case .outer, .value, .variable, .function, .conditional, .related: expression.description
        }
    }
}

/// A request for values instead of objects.
public struct QueryRequest: Sendable, Hashable {
    /// Which objects are looked at; its order, limit and offset apply to the rows of the answer.
    ///
    /// Beside aggregates the answer is ordered by grouping keys, aggregates, and aliases of outputs.
    public var fetch: FetchRequest
    /// What each row of the answer holds.
    public var outputs: [QueryOutput]
    /// The grouping keys.
    public var groupBy: [QueryExpression]
    /// Which groups are in the answer: a condition on grouping keys, aggregates, and aliases of outputs.
    public var having: QueryPredicate?
    /// Whether equal rows of an answer without aggregates are one.
    public var isDistinct: Bool

    /// A request for values.
    public init(
        _ fetch: FetchRequest, outputs: [QueryOutput], groupBy: [PropertyPath] = [], having: QueryPredicate? = nil, isDistinct: Bool = false
    ) {
        self.init(fetch, outputs: outputs, groupBy: groupBy.map(QueryExpression.path), having: having, isDistinct: isDistinct)
    }

    /// A request for values, grouped by what is computed.
    public init(
        _ fetch: FetchRequest, outputs: [QueryOutput], groupBy: [QueryExpression], having: QueryPredicate? = nil, isDistinct: Bool = false
    ) {
        self.fetch = fetch
        self.outputs = outputs
        self.groupBy = groupBy
        self.having = having
        self.isDistinct = isDistinct
    }
}
