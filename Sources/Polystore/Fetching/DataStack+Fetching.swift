public import PolystoreStorage

extension DataStack {
    private func newContext() -> ObjectContext { ObjectContext(stack: core, model: core.model) }

    /// Runs a fetch in a context of its own.
    @inline(__always)
    private func within<R>(_ timeout: Duration?, _ body: (ObjectContext) throws(StorageError) -> R) throws(StorageError) -> R {
        let context = newContext()
        let result = try timeout == nil ? body(context) : context.within(timeout) { () throws(StorageError) in try body(context) }
        // Objects are created from the readable values. A malformed value is an error of the fetch.
        try context.throwFailure()
        return result
    }

    /// Returns the objects of a request, in its order: read-only, in a context of their own.
    ///
    /// - Parameters:
    ///   - from: The request.
    ///   - timeout: The maximum duration of the fetch; nil for no limit.
    /// - Throws: `notFound` before any store was added; `invalidPredicate` for a request that is invalid for the model.
    public func fetchAll<Object: ManagedObject>(
        _ from: From<Object>, timeout: Duration? = nil
    ) throws(StorageError) -> sending [Object] {
        try reporting { () throws(StorageError) in try within(timeout) { context throws(StorageError) in try context.fetchAll(from) } }
    }

    /// Returns the first object of a request; nil if there is none.
    public func fetchOne<Object: ManagedObject>(
        _ from: From<Object>, timeout: Duration? = nil
    ) throws(StorageError) -> sending Object? {
        try reporting { () throws(StorageError) in
            try within(timeout) { context throws(StorageError) in try context.fetchAll(from.limit(min(from.limit ?? 1, 1))).first }
        }
    }

    /// Returns the number of objects of a request.
    public func fetchCount<Object: ManagedObject>(
        _ from: From<Object>, timeout: Duration? = nil
    ) throws(StorageError) -> Int {
        try reporting { () throws(StorageError) in try within(timeout) { context throws(StorageError) in try context.fetchCount(from) } }
    }

    /// Returns the ids of the objects of a request, in its order, without instantiating objects.
    public func fetchIDs<Object: ManagedObject>(
        _ from: From<Object>, timeout: Duration? = nil
    ) throws(StorageError) -> [ObjectID<Object>] {
        try reporting { () throws(StorageError) in try within(timeout) { context throws(StorageError) in try context.fetchIDs(from) } }
    }

    /// Returns the object that an id, a snapshot, a publisher or a monitor represents, read-only, in a context of its own; nil if it no
    /// longer exists.
    public func fetchExisting<Object: ManagedObject>(
        _ representation: some ObjectRepresentation<Object>
    ) throws(StorageError) -> sending Object? {
        let id = representation.objectID
        return try reporting { () throws(StorageError) in try within(nil) { context throws(StorageError) in try context.existing(id) } }
    }

    /// Returns the stack's own, read-only instance of an object of any context; nil if it no longer exists.
    public func fetchExisting<Object: ManagedObject>(_ object: Object) throws(StorageError) -> sending Object? {
        try fetchExisting(ObjectID<Object>(object._context.objectKey(of: object)))
    }

    /// Returns the objects with the given ids, in their order, read-only, in a context of their own, without those that no longer exist.
    public func fetchExisting<Object: ManagedObject>(_ ids: [ObjectID<Object>]) throws(StorageError) -> sending [Object] {
        try reporting { () throws(StorageError) in try within(nil) { context throws(StorageError) in try context.existing(ids) } }
    }

    /// Returns the stack's own, read-only instances of objects of any context, in their order, without those that no longer exist.
    public func fetchExisting<Object: ManagedObject>(_ objects: [Object]) throws(StorageError) -> sending [Object] {
        try fetchExisting(objects.map { ObjectID<Object>($0._context.objectKey(of: $0)) })
    }
}
