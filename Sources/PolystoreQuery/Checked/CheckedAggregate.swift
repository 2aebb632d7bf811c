public import PolystoreSchema

/// An aggregate over an expression of each object, or over the objects.
public struct CheckedAggregate: Sendable, Hashable {
    /// The aggregate function.
    public let function: AggregateFunction
    /// The argument; nil for a count of objects.
    public let argument: CheckedExpression?
    /// The type of the result.
    public let type: ValueType

    /// Creates a checked aggregate.
    public init(_ function: AggregateFunction, _ argument: CheckedExpression?, _ type: ValueType) {
        self.function = function
        self.argument = argument
        self.type = type
    }
}
