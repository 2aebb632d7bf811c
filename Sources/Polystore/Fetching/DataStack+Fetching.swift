public import PolystoreStorage

extension DataStack {
    private func newContext() -> ObjectContext { ObjectContext(stack: core, model: core.model) }

    /// Runs a fetch in a context of its own.
    @inline(__always)
    private func within<R>(_ timeout: Duration?, _ body: (ObjectContext) throws(StorageError) -> R) throws(StorageError) -> R {
        let context = newContext()
        let result = try timeout == nil ? body(context) : context.within(timeout) { () throws(StorageError) in try body(context) }
        // Objects are made with what can be read; a value that is ill-formed is none of it.
        try context.throwFailure()
        return result
    }

    /// The objects of a request, in its order: read-only, in a context of their own.
    ///
    /// - Parameters:
    ///   - from: The request.
    ///   - timeout: The time that the fetch may take; nil for no limit.
    /// - Throws: `notFound` before any store was added, `invalidPredicate` for a request that means nothing for the model.
    public func fetchAll<Object: ManagedObject>(
        _ from: From<Object>, timeout: Duration? = nil
    ) throws(StorageError) -> sending [Object] {
        try reporting { () throws(StorageError) in try within(timeout) { context throws(StorageError) in try context.fetchAll(from) } }
    }

    /// The first object of a request; nil when there is none.
    public func fetchOne<Object: ManagedObject>(
        _ from: From<Object>, timeout: Duration? = nil
    ) throws(StorageError) -> sending Object? {
        try reporting { () throws(StorageError) in
            try within(timeout) { context throws(StorageError) in try context.fetchAll(from.limit(min(from.limit ?? 1, 1))).first }
        }
    }

    /// The number of objects of a request.
    public func fetchCount<Object: ManagedObject>(
        _ from: From<Object>, timeout: Duration? = nil
    ) throws(StorageError) -> Int {
        try reporting { () throws(StorageError) in try within(timeout) { context throws(StorageError) in try context.fetchCount(from) } }
    }

    /// The ids of the objects of a request, in its order; no object is made.
    public func fetchIDs<Object: ManagedObject>(
        _ from: From<Object>, timeout: Duration? = nil
    ) throws(StorageError) -> [ObjectID<Object>] {
        try reporting { () throws(StorageError) in try within(timeout) { context throws(StorageError) in try context.fetchIDs(from) } }
    }

    /// The object that an id, a snapshot, a publisher or a monitor stands for, read-only, in a context of its own; nil when it no longer
    /// exists.
    public func fetchExisting<Object: ManagedObject>(
        _ representation: some ObjectRepresentation<Object>
    ) throws(StorageError) -> sending Object? {
        let id = representation.objectID
        return try reporting { () throws(StorageError) in try within(nil) { context throws(StorageError) in try context.existing(id) } }
    }

    /// The stack's own, read-only instance of an object of any context; nil when it no longer exists.
    public func fetchExisting<Object: ManagedObject>(_ object: Object) throws(StorageError) -> sending Object? {
        try fetchExisting(ObjectID<Object>(object._context.objectKey(of: object)))
    }

    /// The objects with ids, in their order, read-only, in a context of their own; those that no longer exist are left out.
    public func fetchExisting<Object: ManagedObject>(_ ids: [ObjectID<Object>]) throws(StorageError) -> sending [Object] {
        try reporting { () throws(StorageError) in try within(nil) { context throws(StorageError) in try context.existing(ids) } }
    }

    /// The stack's own, read-only instances of objects of any context, in their order; those that no longer exist are left out.
    public func fetchExisting<Object: ManagedObject>(_ objects: [Object]) throws(StorageError) -> sending [Object] {
        try fetchExisting(objects.map { ObjectID<Object>($0._context.objectKey(of: $0)) })
    }
}
