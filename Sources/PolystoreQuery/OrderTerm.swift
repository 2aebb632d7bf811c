/// One term of an order: an expression and a direction.
public struct OrderTerm: Sendable, Hashable {
    /// The expression to sort by: a property, also through to-one relationships, or a computed expression.
    public var expression: QueryExpression
    /// Whether small values come first; nil is the smallest.
    public var ascending: Bool

    /// Creates a sort key from a property.
    public init(_ path: PropertyPath, ascending: Bool = true) { self.init(.path(path), ascending: ascending) }

    /// Creates a sort key from an expression.
    public init(_ expression: QueryExpression, ascending: Bool = true) {
        self.expression = expression
        self.ascending = ascending
    }

    /// The term as text, such as `name descending`.
    package var text: String { Self.text("\(expression)", ascending) }

    /// The term as text with `?` for its values.
    package var shape: String { Self.text(expression.shape, ascending) }

    private static func text(_ expression: String, _ ascending: Bool) -> String { ascending ? expression : "\(expression) descending" }
}
