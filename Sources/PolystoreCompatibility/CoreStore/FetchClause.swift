public import Polystore

/// A condition or an order of a CoreStore request. Clauses are listed one after the other.
public protocol FetchClause<Object> {
    /// The class of the objects.
    associatedtype Object: ManagedObject
    /// Returns the request with the clause.
    func applied(to from: From<Object>) -> From<Object>
}
