internal import Foundation
public import Polystore

extension CoreStore {
    /// Returns a single value of the first result row, or nil if there is none.
    public static func queryValue<O: ManagedObject, R: AttributeValue>(
        _ from: From<O>, _ select: Select<R>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> R? {
        try defaultStack.queryValue(from, select, clauses)
    }

    /// Returns a single value of the first result row, or nil if there is none.
    public static func queryValue<O: ManagedObject, R: AttributeValue>(
        _ from: From<O>, _ select: Select<R>, _ clauses: [any QueryClause<O>]
    ) throws(StorageError) -> R? {
        try defaultStack.queryValue(from, select, clauses)
    }

    /// Returns the result rows as dictionaries, without values that are nil.
    public static func queryAttributes<O: ManagedObject>(
        _ from: From<O>, _ select: Select<[String: Any]>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> [[String: Any]] {
        try defaultStack.queryAttributes(from, select, clauses)
    }

    /// Returns the result rows as dictionaries, without values that are nil.
    public static func queryAttributes<O: ManagedObject>(
        _ from: From<O>, _ select: Select<[String: Any]>, _ clauses: [any QueryClause<O>]
    ) throws(StorageError) -> [[String: Any]] {
        try defaultStack.queryAttributes(from, select, clauses)
    }
}
