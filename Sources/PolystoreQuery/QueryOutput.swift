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
