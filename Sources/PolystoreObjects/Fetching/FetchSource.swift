public import PolystoreStorage

/// A source of objects: a transaction or a read. A `DataStack` has the same methods.
public protocol FetchSource: AnyObject {
    /// The context of the objects, after all pending changes were written to the stores.
    var _fetchContext: ObjectContext { get throws(StorageError) }
}

extension FetchSource {
    /// Returns the objects of a request, in its order.
    ///
    /// - Throws: `notFound` before any store was added; `invalidPredicate` for a request that is invalid for the model.
    public func fetchAll<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> [Object] {
        try reporting { () throws(StorageError) in try _fetchContext.fetchAll(from) }
    }

    /// Returns the first object of a request; nil if there is none.
    public func fetchOne<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> Object? {
        try reporting { () throws(StorageError) in try _fetchContext.fetchAll(from.limit(min(from.limit ?? 1, 1))).first }
    }

    /// Returns the number of objects of a request.
    public func fetchCount<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> Int {
        try reporting { () throws(StorageError) in try _fetchContext.fetchCount(from) }
    }

    /// Returns the ids of the objects of a request, in its order, without instantiating objects.
    public func fetchIDs<Object: ManagedObject>(_ from: From<Object>) throws(StorageError) -> [ObjectID<Object>] {
        try reporting { () throws(StorageError) in try _fetchContext.fetchIDs(from) }
    }

    /// Returns the object that an id, a snapshot, a publisher or a monitor represents; nil if it no longer exists.
    public func fetchExisting<Object: ManagedObject>(
        _ representation: some ObjectRepresentation<Object>
    ) throws(StorageError) -> Object? {
        try reporting { () throws(StorageError) in try _fetchContext.existing(representation.objectID) }
    }

    /// Returns this source's own instance of an object of any context; nil if it no longer exists.
    public func fetchExisting<Object: ManagedObject>(_ object: Object) throws(StorageError) -> Object? {
        try reporting { () throws(StorageError) in try _fetchContext.existing(ObjectID<Object>(object._context.objectKey(of: object))) }
    }
}

extension FetchSource {
    /// Returns the objects with the given ids, in their order, without those that no longer exist. Performs one lookup per store.
    public func fetchExisting<Object: ManagedObject>(_ ids: [ObjectID<Object>]) throws(StorageError) -> [Object] {
        try reporting { () throws(StorageError) in try _fetchContext.existing(ids) }
    }

    /// Returns this source's own instances of objects of any context, in their order, without those that no longer exist.
    public func fetchExisting<Object: ManagedObject>(_ objects: [Object]) throws(StorageError) -> [Object] {
        try reporting { () throws(StorageError) in
            try _fetchContext.existing(objects.map { ObjectID<Object>($0._context.objectKey(of: $0)) })
        }
    }
}
