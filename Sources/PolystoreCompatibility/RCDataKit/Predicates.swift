public import Polystore

extension KeyPath where Root: ManagedObject, Value: AttributeValue {
    /// Whether the value lies in a range; false of nil.
    public func between(_ range: ClosedRange<Value>) -> Where<Root> where Value: Comparable {
        isBetween(range.lowerBound, range.upperBound)
    }

    /// Whether the value is one of a list.
    public func `in`(_ values: [Value]) -> Where<Root> { isIn(values) }
}

/// How conditions are joined.
public enum JoinOperator: Sendable {
    /// All must hold.
    case and
    /// One must hold.
    case or
}

extension Sequence {
    /// One condition of several.
    public func joined<O: ManagedObject>(with joint: JoinOperator) -> Where<O> where Element == Where<O> {
        joint == .and ? combinedByAnd() : combinedByOr()
    }
}

extension From {
    /// Sorted by these keys.
    public func sorted(_ keys: [OrderBy<Object>]) -> From { keys.reduce(self) { $0.orderBy($1) } }
}
