internal import Foundation
public import Polystore

/// A query to which clauses are added after `select`: `From<Person>().select(Int.self, .maximum(\.age)).where(\.age < 18)`.
public protocol QueryChainableBuilderType<Object> {
    /// The class of the objects.
    associatedtype Object: ManagedObject
    /// Returns the query with a clause.
    func appending(_ clause: any QueryClause<Object>) -> Self
}

extension QueryChainableBuilderType {
    /// Returns the query with clauses, in their order.
    public func appending(contentsOf clauses: some Sequence<any QueryClause<Object>>) -> Self { clauses.reduce(self) { $0.appending($1) } }

    /// Returns the query restricted to objects that satisfy a condition. Several conditions must all hold.
    public func `where`(_ condition: Where<Object>) -> Self { appending(condition) }

    /// Returns the query restricted to objects that satisfy all conditions.
    public func `where`(combineByAnd conditions: Where<Object>...) -> Self { appending(conditions.combinedByAnd()) }

    /// Returns the query restricted to objects that satisfy at least one of the conditions.
    public func `where`(combineByOr conditions: Where<Object>...) -> Self { appending(conditions.combinedByOr()) }

    /// Returns the query restricted by a condition in the grammar of `NSPredicate`, with arguments for its placeholders.
    public func `where`(format: String, _ arguments: Any?...) -> Self { appending(Where(format: format, arguments: arguments)) }

    /// Returns the query restricted by a condition in the grammar of `NSPredicate`, with a list of arguments for its placeholders.
    public func `where`(format: String, argumentArray: [Any]?) -> Self { appending(Where(format, argumentArray: argumentArray)) }

    /// Returns the query with its rows sorted by these keys, after those given before. An order beside a value over all objects has no effect.
    public func orderBy(_ key: OrderBy<Object>, _ more: OrderBy<Object>...) -> Self { more.reduce(appending(key)) { $0.appending($1) } }

    /// Returns the query with its rows sorted by a list of keys, after those given before.
    public func orderBy(_ keys: [OrderBy<Object>]) -> Self { keys.reduce(self) { $0.appending($1) } }

    /// Returns the query with settings that a closure changes.
    public func tweak(_ change: @escaping (TweakedRequest) -> Void) -> Self { appending(Tweak(change)) }

    /// Returns the query with one row for each value of the key paths of a clause.
    public func groupBy(_ clause: GroupBy<Object>) -> Self { appending(clause) }

    /// Returns the query with one row for each value of the key paths.
    public func groupBy(_ keyPath: String, _ more: String...) -> Self { appending(GroupBy([keyPath] + more)) }

    /// Returns the query with one row for each value of the key paths.
    public func groupBy(_ keyPaths: [String]) -> Self { appending(GroupBy(keyPaths)) }

    /// Returns the query with one row for each value of a property.
    public func groupBy<Property>(_ keyPath: KeyPath<Object, Property>) -> Self { appending(GroupBy(keyPath)) }
}

extension AttributesQuery: QueryChainableBuilderType {
    /// Returns the query with a clause.
    public func appending(_ clause: any QueryClause<Object>) -> AttributesQuery {
        let parts = clause.applied(to: (from, []))
        return over(parts.from).groupBy(named: parts.keys).withoutOrderOfOneRow()
    }
}

extension ValueQuery: QueryChainableBuilderType {
    /// Returns the query with a clause.
    public func appending(_ clause: any QueryClause<Object>) -> ValueQuery { ValueQuery(query: query.appending(clause)) }
}
