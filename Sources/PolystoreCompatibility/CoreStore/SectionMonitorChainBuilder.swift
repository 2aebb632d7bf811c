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
