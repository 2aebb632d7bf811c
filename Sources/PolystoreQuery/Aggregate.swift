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
