public import Polystore

extension KeyPath where Root: ManagedObject, Value: AttributeValue {
    /// Returns a condition that is true if the value is within a range, and false for nil.
    public func between(_ range: ClosedRange<Value>) -> Where<Root> where Value: Comparable {
        isBetween(range.lowerBound, range.upperBound)
    }

    /// Returns a condition that is true if the value is contained in a list.
    public func `in`(_ values: [Value]) -> Where<Root> { isIn(values) }
}

extension Sequence {
    /// Returns the combination of the conditions.
    public func joined<O: ManagedObject>(with joint: JoinOperator) -> Where<O> where Element == Where<O> {
        joint == .and ? combinedByAnd() : combinedByOr()
    }
}

extension From {
    /// Returns the request sorted by the given terms.
    public func sorted(_ keys: [OrderBy<Object>]) -> From { keys.reduce(self) { $0.orderBy($1) } }
}
