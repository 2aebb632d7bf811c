public import Polystore

/// A condition or an order as CoreStore writes them, one after the other.
public protocol FetchClause<Object> {
    /// The class.
    associatedtype Object: ManagedObject
    /// The request with the clause.
    func applied(to from: From<Object>) -> From<Object>
}

extension Where: FetchClause {
    /// The request with the condition.
    public func applied(to from: From<Object>) -> From<Object> { from.where(self) }

    /// A condition of one attribute.
    public init<V: AttributeValue>(_ keyPath: String, isEqualTo value: V) {
        self.init(.compare(.path(PropertyPath(keyPath)), .equal, .value(value.attributeValue)))
    }
}

extension OrderBy: FetchClause {
    /// The request in the order.
    public func applied(to from: From<Object>) -> From<Object> { from.orderBy(self) }
}

extension From {
    /// The request with clauses, in their order.
    func applying(_ clauses: [any FetchClause<Object>]) -> From { clauses.reduce(self) { $1.applied(to: $0) } }

    /// All objects of a class: `From(Person.self)`.
    public init(_ type: Object.Type) { self.init() }
}

extension Into {
    /// A class: `Into(Person.self)`.
    public init(_ type: Object.Type) { self.init() }
}

extension FetchSource {
    /// All objects of a class that satisfy a condition.
    public func fetchAll<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> [O] {
        try fetchAll(from.applying([clause] + more))
    }

    /// The first object of a class that satisfies a condition.
    public func fetchOne<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> O? {
        try fetchOne(from.applying([clause] + more))
    }
}

extension DataStack {
    /// All objects of a class that satisfy a condition.
    public func fetchAll<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> sending [O] {
        try fetchAll(from.applying([clause] + more))
    }

    /// The first object of a class that satisfies a condition.
    public func fetchOne<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> sending O? {
        try fetchOne(from.applying([clause] + more))
    }
}

extension FetchSource {
    /// The ids of the objects of a class that satisfy a condition; no object is made.
    public func fetchObjectIDs<O: ManagedObject>(
        _ from: From<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> [ObjectID<O>] { try fetchIDs(from.applying(clauses)) }

    /// The id of the first object of a class that satisfies a condition.
    public func fetchObjectID<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> ObjectID<O>? {
        try fetchIDs(from.applying(clauses).limit(1)).first
    }
}

extension DataStack {
    /// The ids of the objects of a class that satisfy a condition; no object is made.
    public func fetchObjectIDs<O: ManagedObject>(
        _ from: From<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> [ObjectID<O>] { try fetchIDs(from.applying(clauses)) }

    /// The id of the first object of a class that satisfies a condition.
    public func fetchObjectID<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> ObjectID<O>? {
        try fetchIDs(from.applying(clauses).limit(1)).first
    }
}

extension BaseTransaction {
    /// Deletes all objects of a class that satisfy a condition, following the delete rules.
    @discardableResult
    public func deleteAll<O: ManagedObject>(_ from: From<O>, _ clause: Where<O>) throws(StorageError) -> Int {
        try deleteAll(from.where(clause))
    }
}
