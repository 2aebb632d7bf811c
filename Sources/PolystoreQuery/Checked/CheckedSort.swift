internal import PolystoreSchema

/// One checked sort key.
public struct CheckedSort: Sendable, Hashable {
    /// The expression to sort by.
    public let expression: CheckedExpression
    /// Whether small values come first; nil is the smallest.
    public let ascending: Bool

    /// Creates a checked sort key.
    public init(_ expression: CheckedExpression, ascending: Bool) {
        self.expression = expression
        self.ascending = ascending
    }

    /// Creates a sort key from a property.
    public init(_ path: CheckedPath, ascending: Bool) { self.init(.path(path), ascending: ascending) }
}
