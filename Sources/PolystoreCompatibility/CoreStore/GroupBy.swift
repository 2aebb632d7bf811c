internal import Foundation
public import Polystore

/// A clause that groups rows by the values of key paths.
public struct GroupBy<Object: ManagedObject>: QueryClause, Sendable {
    private let keys: [String]

    /// Creates a grouping by key paths.
    public init(_ keyPaths: String...) { keys = keyPaths }

    /// Returns the parts of the query with the key paths.
    public func applied(to query: (from: From<Object>, keys: [String])) -> (from: From<Object>, keys: [String]) {
        (query.from, query.keys + keys)
    }
}

extension GroupBy {
    init(keys: [String]) { self.keys = keys }
}
