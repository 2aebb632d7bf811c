public import Polystore

extension UnsafeTransaction {
    /// Runs a closure with the context. A context is confined to one isolation, so the closure runs there.
    public func perform<R>(_ body: () throws -> R) rethrows -> R { try body() }

    /// Commits all changes in one serializable commit, under the author of the context.
    ///
    /// - Throws: The errors of `commit`.
    public func save() throws(StorageError) { try commit() }

    /// Commits if there are changes.
    ///
    /// - Returns: Whether there were changes.
    @discardableResult
    public func saveIfNeeded() throws(StorageError) -> Bool {
        guard hasChanges else { return false }
        try commit()
        return true
    }
}

extension FetchSource {
    /// Returns the object with an id, or nil if it no longer exists.
    public func existing<O: ManagedObject>(_ type: O.Type, withID id: ObjectID<O>) throws(StorageError) -> O? { try fetchExisting(id) }

    /// Returns the objects with the given ids, in their order, without those that no longer exist.
    public func existing<O: ManagedObject>(_ type: O.Type, withIDs ids: [ObjectID<O>]) throws(StorageError) -> [O] {
        try fetchExisting(ids)
    }

    /// Returns the object with an id.
    ///
    /// - Throws: `notFound` if the object no longer exists.
    public func existingObject<O: ManagedObject>(with id: ObjectID<O>) throws(StorageError) -> O {
        if let object = try fetchExisting(id) { return object }
        throw StorageError(
            .notFound, "\(id.key.root) \(id.key.key) no longer exists", details: .init(entity: id.key.root, keys: [id.key.key]))
    }
}

extension BaseTransaction {
    /// Deletes the objects of a class, or those that satisfy a condition, following the delete rules.
    ///
    /// - Returns: The number of deleted objects.
    @discardableResult
    public func removeInstances<O: ManagedObject>(of type: O.Type, matching condition: Where<O>? = nil) throws(StorageError) -> Int {
        let from = From<O>()
        return try deleteAll(condition.map { from.where($0) } ?? from)
    }
}

extension ViewContext {
    /// Always throws `readOnly`, because a view context does not write.
    public func save() throws(StorageError) { throw Self.readOnly }

    /// Always throws `readOnly`, because a view context does not write.
    public func create<O: ManagedObject>(_ type: O.Type) throws(StorageError) -> O { throw Self.readOnly }

    /// Always throws `readOnly`, because a view context does not write.
    public func delete(_ object: ManagedObject) throws(StorageError) { throw Self.readOnly }

    fileprivate static var readOnly: StorageError {
        StorageError(
            .readOnly,
            "viewContext is read-only; write with perform, which has the author of the main context, or with backgroundContext(author:)")
    }
}

extension ManagedObject {
    /// Always throws `readOnly`. Create objects in a context that writes: `Person(context: backgroundContext)`.
    public convenience init(context: ViewContext) throws(StorageError) { throw ViewContext.readOnly }
}
