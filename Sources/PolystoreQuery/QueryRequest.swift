/// One aggregate: a function over an expression of each object, or over the objects themselves.
public struct Aggregate: Sendable, Hashable {
    /// The aggregate function.
    public var function: AggregateFunction
    /// The argument; nil only for a count of objects.
    public var argument: QueryExpression?

    /// Creates an aggregate over a property, or over objects.
    public init(_ function: AggregateFunction, _ path: PropertyPath? = nil) {
        self.function = function
        argument = path.map(QueryExpression.path)
    }

    /// Creates an aggregate over an expression.
    public init(_ function: AggregateFunction, of expression: QueryExpression) {
        self.function = function
        argument = expression
    }
}

/// One value in each row of a query's answer.
package struct QueryOutput: Sendable, Hashable {
    /// The expression. Beside aggregates it may use only grouping keys and aggregates.
    package var expression: QueryExpression
    /// The name in the answer. The default is derived from the expression, such as `age` or `average(age)`.
    package var alias: String

    /// Creates an output. Without an alias its name is derived from the expression.
    package init(_ expression: QueryExpression, as alias: String? = nil) {
        self.expression = expression
        self.alias = alias ?? Self.name(expression)
    }

    /// Returns an output for the value of a property, which must be among the grouping keys if there are aggregates.
    package static func property(_ path: PropertyPath, as alias: String? = nil) -> QueryOutput { QueryOutput(.path(path), as: alias) }

    /// Returns an output for an aggregate over the group.
    package static func aggregate(_ aggregate: Aggregate, as alias: String? = nil) -> QueryOutput {
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
package struct QueryRequest: Sendable, Hashable {
    /// The objects that the query reads. Their order, limit and offset apply to the rows of the answer.
    ///
    /// Beside aggregates, the answer is ordered by grouping keys, aggregates, and aliases of outputs.
    package var fetch: ObjectRequest
    /// The values of each row of the answer.
    package var outputs: [QueryOutput]
    /// The grouping keys.
    package var groupBy: [QueryExpression]
    /// The condition on groups: on grouping keys, aggregates, and aliases of outputs.
    package var having: QueryPredicate?
    /// Whether equal rows of an answer without aggregates are merged into one.
    package var isDistinct: Bool

    /// Creates a request for values.
    package init(
        _ fetch: ObjectRequest, outputs: [QueryOutput], groupBy: [PropertyPath] = [], having: QueryPredicate? = nil,
        isDistinct: Bool = false
    ) {
        self.init(fetch, outputs: outputs, groupBy: groupBy.map(QueryExpression.path), having: having, isDistinct: isDistinct)
    }

    /// Creates a request for values, grouped by expressions.
    package init(
        _ fetch: ObjectRequest, outputs: [QueryOutput], groupBy: [QueryExpression], having: QueryPredicate? = nil, isDistinct: Bool = false
    ) {
        self.fetch = fetch
        self.outputs = outputs
        self.groupBy = groupBy
        self.having = having
        self.isDistinct = isDistinct
    }
}
