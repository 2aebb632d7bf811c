internal import Foundation
public import Polystore

/// A value that a query in the form of CoreStore requests: a key path or an aggregate.
public struct SelectTerm: Sendable, ExpressibleByStringLiteral {
    let text: String
    let alias: String?

    private init(_ text: String, _ alias: String?) {
        self.text = text
        self.alias = alias
    }

    private init(_ function: String, _ keyPath: String, _ alias: String?) { self.init("@\(function)(\(keyPath))", alias) }

    /// Creates a term for the value of a key path.
    public init(stringLiteral keyPath: String) { self.init(keyPath, nil) }
    /// Returns a term for the value of a key path.
    public static func attribute(_ keyPath: String) -> SelectTerm { SelectTerm(keyPath, nil) }
    /// Returns a term for the average, which is nil if there are no values.
    public static func average(_ keyPath: String, as alias: String? = nil) -> SelectTerm { SelectTerm("avg", keyPath, alias) }
    /// Returns a term for the number of values, or for the number of destinations of a to-many relationship.
    public static func count(_ keyPath: String, as alias: String? = nil) -> SelectTerm { SelectTerm("count", keyPath, alias) }
    /// Returns a term for the maximum, which is nil if there are no values.
    public static func maximum(_ keyPath: String, as alias: String? = nil) -> SelectTerm { SelectTerm("max", keyPath, alias) }
    /// Returns a term for the minimum, which is nil if there are no values.
    public static func minimum(_ keyPath: String, as alias: String? = nil) -> SelectTerm { SelectTerm("min", keyPath, alias) }
    /// Returns a term for the sum, which is 0 if there are no values.
    public static func sum(_ keyPath: String, as alias: String? = nil) -> SelectTerm { SelectTerm("sum", keyPath, alias) }
}

/// The values that a query in the form of CoreStore returns: `Select<Int>(.maximum("age"))`, `Select("name", .count("friends"))`.
public struct Select<Result>: Sendable {
    let terms: [SelectTerm]
}

extension Select where Result: AttributeValue {
    /// Selects a single value.
    public init(_ term: SelectTerm) { terms = [term] }
}

extension Select where Result == [String: Any] {
    /// Selects a dictionary for each row.
    public init(_ first: SelectTerm, _ more: SelectTerm...) { terms = [first] + more }
}

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

extension Where: QueryClause {}
extension OrderBy: QueryClause {}
extension Tweak: QueryClause {}

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

extension QuerySource {
    private func query<O: ManagedObject>(
        _ from: From<O>, _ terms: [SelectTerm], _ clauses: [any QueryClause<O>]
    ) -> AttributesQuery<O> {
        var parts: (from: From<O>, keys: [String]) = (from, [])
        for clause in clauses { parts = clause.applied(to: parts) }
        return parts.from.select(terms.map { Polystore.Select(named: $0.text, as: $0.alias) }).groupBy(named: parts.keys)
    }

    /// Returns a single value of the first result row, or nil if there is none.
    public func queryValue<O: ManagedObject, R: AttributeValue>(
        _ from: From<O>, _ select: Select<R>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> R? {
        guard let row = try queryAttributes(query(from, select.terms, clauses)).first else { return nil }
        return try row.value(row.names[0])
    }

    /// Returns the result rows as dictionaries, without values that are nil.
    public func queryAttributes<O: ManagedObject>(
        _ from: From<O>, _ select: Select<[String: Any]>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> [[String: Any]] {
        try queryAttributes(query(from, select.terms, clauses)).map { row in
            var result: [String: Any] = [:]
            for (name, value) in zip(row.names, row.values) { result[name] = value.natural }
            return result
        }
    }
}

extension CoreStore {
    /// Returns a single value of the first result row, or nil if there is none.
    public static func queryValue<O: ManagedObject, R: AttributeValue>(
        _ from: From<O>, _ select: Select<R>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> R? {
        var parts: (from: From<O>, keys: [String]) = (from, [])
        for clause in clauses { parts = clause.applied(to: parts) }
        return try defaultStack.queryValue(parts.from, select, GroupBy(keys: parts.keys))
    }

    /// Returns the result rows as dictionaries, without values that are nil.
    public static func queryAttributes<O: ManagedObject>(
        _ from: From<O>, _ select: Select<[String: Any]>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> [[String: Any]] {
        var parts: (from: From<O>, keys: [String]) = (from, [])
        for clause in clauses { parts = clause.applied(to: parts) }
        return try defaultStack.queryAttributes(parts.from, select, GroupBy(keys: parts.keys))
    }
}

extension GroupBy {
    fileprivate init(keys: [String]) { self.keys = keys }
}
