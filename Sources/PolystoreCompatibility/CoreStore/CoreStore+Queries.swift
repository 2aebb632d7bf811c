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

    /// Returns a single value of the first result row, or nil if there is none.
    @_disfavoredOverload
    public static func queryValue<O: ManagedObject, R: AttributeValue>(
        _ from: From<O>, _ select: Select<O, R>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> R? {
        try defaultStack.queryValue(from, select, clauses)
    }

    /// Returns a single value of the first result row, or nil if there is none.
    public static func queryValue<O: ManagedObject, R: AttributeValue>(_ chain: QueryChainBuilder<O, R>) throws(StorageError) -> R? {
        try defaultStack.queryValue(chain)
    }

    /// Returns the result rows as dictionaries, without values that are nil: `Select<NSDictionary>("name", "age")`.
    @_disfavoredOverload
    public static func queryAttributes<O: ManagedObject, each Parameter>(
        _ from: From<O>, _ select: Select<repeat each Parameter>, _ clauses: any QueryClause<O>...
    ) throws(StorageError) -> [[String: Any]] {
        try defaultStack.queryAttributes(from, select, clauses)
    }

    /// Returns the result rows as dictionaries, without values that are nil.
    public static func queryAttributes<O: ManagedObject, Row>(_ chain: QueryChainBuilder<O, Row>) throws(StorageError) -> [[String: Any]] {
        try defaultStack.queryAttributes(chain)
    }

    /// Returns the result rows of a chain without a type of rows.
    public static func queryAttributes<O: ManagedObject>(_ query: AttributesQuery<O>) throws(StorageError) -> [AttributeRow] {
        try defaultStack.queryAttributes(query)
    }
}
