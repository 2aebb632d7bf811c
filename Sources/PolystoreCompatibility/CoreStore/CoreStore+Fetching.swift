public import Polystore

extension CoreStore {
    /// Returns the objects of a class that satisfy clauses.
    public static func fetchAll<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> sending [O] {
        try defaultStack.fetchAll(from, clauses)
    }

    /// Returns the objects of a class that satisfy clauses.
    public static func fetchAll<O: ManagedObject>(_ from: From<O>, _ clauses: [any FetchClause<O>]) throws(StorageError) -> sending [O] {
        try defaultStack.fetchAll(from, clauses)
    }

    /// Returns the first object of a class that satisfies clauses.
    public static func fetchOne<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> sending O? {
        try defaultStack.fetchOne(from, clauses)
    }

    /// Returns the first object of a class that satisfies clauses.
    public static func fetchOne<O: ManagedObject>(_ from: From<O>, _ clauses: [any FetchClause<O>]) throws(StorageError) -> sending O? {
        try defaultStack.fetchOne(from, clauses)
    }

    /// Returns the number of objects of a class that satisfy clauses.
    public static func fetchCount<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> Int {
        try defaultStack.fetchCount(from, clauses)
    }

    /// Returns the number of objects of a class that satisfy clauses.
    public static func fetchCount<O: ManagedObject>(_ from: From<O>, _ clauses: [any FetchClause<O>]) throws(StorageError) -> Int {
        try defaultStack.fetchCount(from, clauses)
    }

    /// Returns the ids of the objects of a class that satisfy clauses.
    public static func fetchObjectIDs<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError)
        -> [ObjectID<O>]
    {
        try defaultStack.fetchObjectIDs(from, clauses)
    }

    /// Returns the ids of the objects of a class that satisfy clauses.
    public static func fetchObjectIDs<O: ManagedObject>(_ from: From<O>, _ clauses: [any FetchClause<O>]) throws(StorageError) -> [ObjectID<
        O
    >] {
        try defaultStack.fetchObjectIDs(from, clauses)
    }

    /// Returns the id of the first object of a class that satisfies clauses.
    public static func fetchObjectID<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> ObjectID<
        O
    >? {
        try defaultStack.fetchObjectID(from, clauses)
    }

    /// Returns the id of the first object of a class that satisfies clauses.
    public static func fetchObjectID<O: ManagedObject>(_ from: From<O>, _ clauses: [any FetchClause<O>]) throws(StorageError) -> ObjectID<
        O
    >? {
        try defaultStack.fetchObjectID(from, clauses)
    }

    /// Returns the ids of the objects of a class that satisfy clauses. The name of `fetchObjectIDs` in Polystore.
    public static func fetchIDs<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> [ObjectID<O>] {
        try defaultStack.fetchObjectIDs(from, clauses)
    }

    /// Returns a page of a request: as many objects as its limit, 100 without one, after a cursor.
    public static func fetchPage<O: ManagedObject>(
        _ from: From<O>, after cursor: PageCursor? = nil
    ) throws(StorageError) -> sending Page<O> {
        try defaultStack.fetchPage(from, after: cursor)
    }

    /// Returns a single value over the objects of a request, computed by the store, or nil if there is none.
    public static func queryValue<O: ManagedObject, R: AttributeValue>(_ query: ValueQuery<O, R>) throws(StorageError) -> R? {
        try defaultStack.queryValue(query)
    }

    /// Returns the default stack's own instance of an object of any context, or nil if the object no longer exists.
    public static func fetchExisting<O: ManagedObject>(_ object: O) throws(StorageError) -> sending O? {
        try defaultStack.fetchExisting(object.objectID)
    }

    /// Returns the default stack's own instances of objects of any context, without those that no longer exist.
    public static func fetchExisting<O: ManagedObject>(_ objects: [O]) throws(StorageError) -> sending [O] {
        try defaultStack.fetchExisting(objects)
    }

    /// Returns the objects with the given ids, without those that no longer exist.
    public static func fetchExisting<O: ManagedObject>(_ ids: [ObjectID<O>]) throws(StorageError) -> sending [O] {
        try defaultStack.fetchExisting(ids)
    }

    /// Returns the object with an id, or nil if it no longer exists.
    public static func fetchExisting<O: ManagedObject>(_ id: ObjectID<O>) throws(StorageError) -> sending O? {
        try defaultStack.fetchExisting(id)
    }
}
