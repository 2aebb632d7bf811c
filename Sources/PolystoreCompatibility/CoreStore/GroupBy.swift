internal import Foundation
public import Polystore

/// A clause that groups rows by the values of key paths.
public struct GroupBy<Object: ManagedObject>: QueryClause, Sendable, Hashable {
    /// The key paths, in their order.
    public let keyPaths: [String]

    /// Creates a grouping by key paths.
    public init(_ keyPaths: String...) { self.keyPaths = keyPaths }

    /// Creates a grouping by key paths.
    public init(_ keyPaths: [String]) { self.keyPaths = keyPaths }

    /// Creates a grouping by the value of a property: `GroupBy(\.age)`.
    public init<Property>(_ keyPath: KeyPath<Object, Property>) { self.init([String(keyPath: keyPath)]) }

    /// Returns the parts of the query with the key paths.
    public func applied(to query: (from: From<Object>, keys: [String])) -> (from: From<Object>, keys: [String]) {
        (query.from, query.keys + keyPaths)
    }
}
