public import Polystore

extension Where: FetchClause {
    /// Returns the request with the condition.
    public func applied(to from: From<Object>) -> From<Object> { from.where(self) }

    /// Creates a condition for the equality of one attribute.
    public init<V: AttributeValue>(_ keyPath: String, isEqualTo value: V) {
        self.init(.compare(.path(PropertyPath(keyPath)), .equal, .value(value.attributeValue)))
    }
}

extension OrderBy: FetchClause {
    /// Returns the request with the order.
    public func applied(to from: From<Object>) -> From<Object> { from.orderBy(self) }
}

extension From {
    /// Returns the request with clauses, in their order.
    func applying(_ clauses: [any FetchClause<Object>]) -> From { clauses.reduce(self) { $1.applied(to: $0) } }

    /// Creates a request for all objects of a class: `From(Person.self)`.
    public init(_ type: Object.Type) { self.init() }
}

extension Into {
    /// Creates a destination for new objects of a class: `Into(Person.self)`.
    public init(_ type: Object.Type) { self.init() }
}

extension FetchSource {
    /// Returns the objects of a class that satisfy a condition.
    public func fetchAll<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> [O] {
        try fetchAll(from.applying([clause] + more))
    }

    /// Returns the first object of a class that satisfies a condition.
    public func fetchOne<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> O? {
        try fetchOne(from.applying([clause] + more))
    }
}

extension DataStack {
    /// Returns the objects of a class that satisfy a condition.
    public func fetchAll<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> sending [O] {
        try fetchAll(from.applying([clause] + more))
    }

    /// Returns the first object of a class that satisfies a condition.
    public func fetchOne<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> sending O? {
        try fetchOne(from.applying([clause] + more))
    }
}

extension FetchSource {
    /// Returns the ids of the objects of a class that satisfy a condition, without creating objects.
    public func fetchObjectIDs<O: ManagedObject>(
        _ from: From<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> [ObjectID<O>] { try fetchIDs(from.applying(clauses)) }

    /// Returns the id of the first object of a class that satisfies a condition.
    public func fetchObjectID<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> ObjectID<O>? {
        try fetchIDs(from.applying(clauses).limit(1)).first
    }
}

extension DataStack {
    /// Returns the ids of the objects of a class that satisfy a condition, without creating objects.
    public func fetchObjectIDs<O: ManagedObject>(
        _ from: From<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> [ObjectID<O>] { try fetchIDs(from.applying(clauses)) }

    /// Returns the id of the first object of a class that satisfies a condition.
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
