internal import Foundation
public import Polystore

/// One value that a query of CoreStore's form asks for: a key, or an aggregate.
public struct SelectTerm: Sendable, ExpressibleByStringLiteral {
    let text: String
    let alias: String?

    private init(_ text: String, _ alias: String?) {
        self.text = text
        self.alias = alias
    }

    private init(_ function: String, _ keyPath: String, _ alias: String?) { self.init("@\(function)(\(keyPath))", alias) }

    /// The value of a key path.
    public init(stringLiteral keyPath: String) { self.init(keyPath, nil) }
    /// The value of a key path.
    public static func attribute(_ keyPath: String) -> SelectTerm { SelectTerm(keyPath, nil) }
    /// The mean; nil of nothing.
    public static func average(_ keyPath: String, as alias: String? = nil) -> SelectTerm { SelectTerm("avg", keyPath, alias) }
    /// The number of values; of a to-many relationship, the number of objects that it leads to.
    public static func count(_ keyPath: String, as alias: String? = nil) -> SelectTerm { SelectTerm("count", keyPath, alias) }
    /// The greatest value; nil of nothing.
    public static func maximum(_ keyPath: String, as alias: String? = nil) -> SelectTerm { SelectTerm("max", keyPath, alias) }
    /// The smallest value; nil of nothing.
    public static func minimum(_ keyPath: String, as alias: String? = nil) -> SelectTerm { SelectTerm("min", keyPath, alias) }
    /// The total; 0 of nothing.
    public static func sum(_ keyPath: String, as alias: String? = nil) -> SelectTerm { SelectTerm("sum", keyPath, alias) }
}

/// CoreStore's choice of what a query gives: `Select<Int>(.maximum("age"))`, `Select("name", .count("friends"))`.
public struct Select<Result>: Sendable {
    let terms: [SelectTerm]
}

extension Select where Result: AttributeValue {
    /// One value.
    public init(_ term: SelectTerm) { terms = [term] }
}

extension Select where Result == [String: Any] {
    /// A dictionary for each row.
    public init(_ first: SelectTerm, _ more: SelectTerm...) { terms = [first] + more }
}

/// A clause of a query: a condition, an order, settings, or the keys of groups.
public protocol QueryClause<Object> {
    /// The class.
    associatedtype Object: ManagedObject
    /// The parts of the query with the clause.
    func applied(to query: (from: From<Object>, keys: [String])) -> (from: From<Object>, keys: [String])
}

extension QueryClause where Self: FetchClause {
    /// The request with the clause.
    public func applied(to query: (from: From<Object>, keys: [String])) -> (from: From<Object>, keys: [String]) {
        (applied(to: query.from), query.keys)
    }
}

extension Where: QueryClause {}
extension OrderBy: QueryClause {}
extension Tweak: QueryClause {}

/// One row for each value of keys.
public struct GroupBy<Object: ManagedObject>: QueryClause, Sendable {
    private let keys: [String]

    /// Groups by key paths.
    public init(_ keyPaths: String...) { keys = keyPaths }

    /// The query with the keys.
    public func applied(to query: (from: From<Object>, keys: [String])) -> (from: From<Object>, keys: [String]) {
        (query.from, query.keys + keys)
    }
}

extension Value {
    /// The value as a program has it; nil for nil.
    var any: Any? {
        switch self {
        case .null: nil
        case .bool(let value): value
        case .int(let value): Int(value)
        case .double(let value): value
        case .decimal(let value): value
        case .string(let value): value
        case .date: Date(attributeValue: self)
        case .uuid(let value): value
        case .data(let value): value
        }
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

    /// One value of the first row of an answer; nil where there is none.
    public func queryValue<O: ManagedObject, R: AttributeValue>(
        _ from: From<O>, _ select: Select<R>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> R? {
        guard let row = try queryAttributes(query(from, select.terms, clauses)).first else { return nil }
        return try row.value(row.names[0])
    }

    /// The rows of an answer as dictionaries, without values that are nil.
    public func queryAttributes<O: ManagedObject>(
        _ from: From<O>, _ select: Select<[String: Any]>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> [[String: Any]] {
        try queryAttributes(query(from, select.terms, clauses)).map { row in
            var result: [String: Any] = [:]
            for (name, value) in zip(row.names, row.values) { result[name] = value.any }
            return result
        }
    }
}

extension CoreStore {
    /// One value of the first row of an answer; nil where there is none.
    public static func queryValue<O: ManagedObject, R: AttributeValue>(
        _ from: From<O>, _ select: Select<R>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> R? {
        var parts: (from: From<O>, keys: [String]) = (from, [])
        for clause in clauses { parts = clause.applied(to: parts) }
        return try defaultStack.queryValue(parts.from, select, GroupBy(keys: parts.keys))
    }

    /// The rows of an answer as dictionaries, without values that are nil.
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
