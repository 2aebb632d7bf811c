public import Polystore

extension DataStack {
    /// Returns the objects of a class that satisfy clauses.
    public func fetchAll<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> sending [O] {
        try fetchAll(from, [clause] + more)
    }

    /// Returns the objects of a class that satisfy clauses.
    public func fetchAll<O: ManagedObject>(_ from: From<O>, _ clauses: [any FetchClause<O>]) throws(StorageError) -> sending [O] {
        try fetchAll(from.applying(clauses))
    }

    /// Returns the first object of a class that satisfies clauses.
    public func fetchOne<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> sending O? {
        try fetchOne(from, [clause] + more)
    }

    /// Returns the first object of a class that satisfies clauses.
    public func fetchOne<O: ManagedObject>(_ from: From<O>, _ clauses: [any FetchClause<O>]) throws(StorageError) -> sending O? {
        try fetchOne(from.applying(clauses))
    }

    /// Returns the number of objects of a class that satisfy clauses.
    public func fetchCount<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> Int {
        try fetchCount(from, [clause] + more)
    }

    /// Returns the number of objects of a class that satisfy clauses.
    public func fetchCount<O: ManagedObject>(_ from: From<O>, _ clauses: [any FetchClause<O>]) throws(StorageError) -> Int {
        try fetchCount(from.applying(clauses))
    }

    /// Returns the ids of the objects of a class that satisfy clauses, without creating objects.
    public func fetchObjectIDs<O: ManagedObject>(
        _ from: From<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> [ObjectID<O>] { try fetchObjectIDs(from, clauses) }

    /// Returns the ids of the objects of a class that satisfy clauses, without creating objects.
    public func fetchObjectIDs<O: ManagedObject>(
        _ from: From<O>, _ clauses: [any FetchClause<O>]
    ) throws(StorageError) -> [ObjectID<O>] { try fetchIDs(from.applying(clauses)) }

    /// Returns the id of the first object of a class that satisfies clauses.
    public func fetchObjectID<O: ManagedObject>(
        _ from: From<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> ObjectID<O>? { try fetchObjectID(from, clauses) }

    /// Returns the id of the first object of a class that satisfies clauses.
    public func fetchObjectID<O: ManagedObject>(
        _ from: From<O>, _ clauses: [any FetchClause<O>]
    ) throws(StorageError) -> ObjectID<O>? { try fetchIDs(from.applying(clauses).limit(1)).first }
}
