internal import Foundation
public import Polystore

extension Where: QueryClause {}
extension OrderBy: QueryClause {}
extension Tweak: QueryClause {}

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
