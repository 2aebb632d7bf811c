public import Polystore

/// A request with sections: `From<Person>().sectionBy(\.age).orderBy(.ascending(\.age))`.
public struct SectionMonitorChainBuilder<Object: ManagedObject>: Sendable {
    private(set) var from: From<Object>
    let sectionBy: SectionBy<Object>

    init(_ from: From<Object>, _ sectionBy: SectionBy<Object>) {
        self.from = from
        self.sectionBy = sectionBy
    }

    /// Returns the request restricted to objects that satisfy a condition. Several conditions must all hold.
    public func `where`(_ condition: Where<Object>) -> Self { appending(condition) }

    /// Returns the request restricted by a condition in the grammar of `NSPredicate`, with arguments for its placeholders.
    public func `where`(_ format: String, _ arguments: Any?...) -> Self { appending(Where(format: format, arguments: arguments)) }

    /// Returns the request restricted by a condition in the grammar of `NSPredicate`: `.where(format: "%K == %@", "name", "Ann")`.
    public func `where`(format: String, _ arguments: Any?...) -> Self { appending(Where(format: format, arguments: arguments)) }

    /// Returns the request restricted by a condition in the grammar of `NSPredicate`, with a list of arguments for its placeholders.
    public func `where`(format: String, argumentArray: [Any]?) -> Self { appending(Where(format, argumentArray: argumentArray)) }

    /// Returns the request restricted to objects that satisfy all conditions.
    public func `where`(combineByAnd conditions: Where<Object>...) -> Self { appending(conditions.combinedByAnd()) }

    /// Returns the request restricted to objects that satisfy at least one of the conditions.
    public func `where`(combineByOr conditions: Where<Object>...) -> Self { appending(conditions.combinedByOr()) }

    /// Returns the request sorted by a list of keys, after those given before.
    public func orderBy(_ keys: [OrderBy<Object>]) -> Self { keys.reduce(self) { $0.appending($1) } }

    /// Returns the request sorted by these keys, after those given before. The first one must be the property of the sections.
    public func orderBy(_ key: OrderBy<Object>, _ more: OrderBy<Object>...) -> Self { more.reduce(appending(key)) { $0.appending($1) } }

    /// Returns the request with settings that a closure changes.
    public func tweak(_ change: @escaping (TweakedRequest) -> Void) -> Self { appending(Tweak(change)) }

    /// Returns the request with a clause.
    public func appending(_ clause: any FetchClause<Object>) -> Self {
        var copy = self
        copy.from = clause.applied(to: from)
        return copy
    }

    /// Returns the request with clauses, in their order.
    public func appending(contentsOf clauses: some Sequence<any FetchClause<Object>>) -> Self {
        clauses.reduce(self) { $0.appending($1) }
    }
}
