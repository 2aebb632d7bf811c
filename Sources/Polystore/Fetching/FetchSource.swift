public import PolystoreStorage

/// What can be fetched from: a transaction or a read. A `DataStack` has the same verbs.
public protocol FetchSource: AnyObject {
    /// The context of the objects, with all pending changes brought to the stores.
    var _fetchContext: ObjectContext { get throws(StorageError) }
}

extension FetchSource {
    /// The objects of a request, in its order.
    ///
    /// - Throws: `notFound` before any store was added, `invalidPredicate` for a request that means nothing for the model.
    public func fetchAll<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> [Object] {
        try reporting { () throws(StorageError) in try _fetchContext.fetchAll(from) }
    }

    /// The first object of a request; nil when there is none.
    public func fetchOne<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> Object? {
        try reporting { () throws(StorageError) in try _fetchContext.fetchAll(from.limit(min(from.limit ?? 1, 1))).first }
    }

    /// The number of objects of a request.
    public func fetchCount<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> Int {
        try reporting { () throws(StorageError) in try _fetchContext.fetchCount(from) }
    }

    /// The ids of the objects of a request, in its order; no object is made.
    public func fetchIDs<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> [ObjectID<Object>] {
        try reporting { () throws(StorageError) in try _fetchContext.fetchIDs(from) }
    }

    /// The object that an id, a snapshot, a publisher or a monitor stands for; nil when it no longer exists.
    public func fetchExisting<Object: ManagedObject>(
        _ representation: some ObjectRepresentation<Object>
    ) throws(StorageError) -> Object? {
        try reporting { () throws(StorageError) in try _fetchContext.existing(representation.objectID) }
    }

    /// This source's own instance of an object of any context; nil when it no longer exists.
    public func fetchExisting<Object: ManagedObject>(_ object: Object) throws(StorageError) -> Object? {
        try reporting { () throws(StorageError) in try _fetchContext.existing(ObjectID<Object>(object._context.objectKey(of: object))) }
    }
}

extension FetchSource {
    /// The objects with ids, in their order; those that no longer exist are left out. One look-up for each store.
    public func fetchExisting<Object: ManagedObject>(_ ids: [ObjectID<Object>]) throws(StorageError) -> [Object] {
        try reporting { () throws(StorageError) in try _fetchContext.existing(ids) }
    }

    /// This source's own instances of objects of any context, in their order; those that no longer exist are left out.
    public func fetchExisting<Object: ManagedObject>(_ objects: [Object]) throws(StorageError) -> [Object] {
        try reporting { () throws(StorageError) in
            try _fetchContext.existing(objects.map { ObjectID<Object>($0._context.objectKey(of: $0)) })
        }
    }
}
