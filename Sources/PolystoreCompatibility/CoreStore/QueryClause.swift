internal import Foundation
public import Polystore

/// A clause of a query: a condition, an order, settings, or key paths for grouping.
public protocol QueryClause<Object> {
    /// The class of the objects.
    associatedtype Object: ManagedObject
    /// Returns the parts of the query with the clause.
    func applied(to query: (from: From<Object>, keys: [String])) -> (from: From<Object>, keys: [String])
}

extension QueryClause where Self: FetchClause {
    /// Returns the parts of the query with the clause.
    public func applied(to query: (from: From<Object>, keys: [String])) -> (from: From<Object>, keys: [String]) {
        (applied(to: query.from), query.keys)
    }
}
