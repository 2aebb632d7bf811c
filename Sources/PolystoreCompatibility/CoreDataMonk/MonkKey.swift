internal import Polystore

/// A key path in an expression of CoreDataMonk, distinguished from a constant by its prefix: `%"name"`.
public struct MonkKey: Sendable {
    let path: PropertyPath
    let quantifier: Quantifier?

    /// Returns a condition on the value of the key path, or on the values of related objects if the key path has a modifier.
    func condition<O: ManagedObject>(_ make: (QueryExpression) -> QueryPredicate) -> Where<O> {
        guard let quantifier else { return Where(make(.path(path))) }
        return Where(.quantified(quantifier, make(.path(path))))
    }
}
