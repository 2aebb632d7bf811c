internal import Dispatch
public import Polystore

extension BaseTransaction {
    /// Returns the transaction's own instance of an object of any context, or nil if there is no object or it no longer exists.
    @_disfavoredOverload
    public func edit<O: ManagedObject>(_ object: O?) throws(StorageError) -> O? {
        guard let object else { return nil }
        return try edit(object)
    }

    /// Returns the object with an id for editing, or nil if it no longer exists.
    public func edit<O: ManagedObject>(_ into: Into<O>, _ objectID: ObjectID<O>) throws(StorageError) -> O? { try edit(objectID) }

    /// Deletes objects and applies the delete rules of their relationships. Nil is skipped.
    ///
    /// - Returns: The number of deleted objects, including those deleted by a cascade.
    @_disfavoredOverload @discardableResult
    public func delete<O: ManagedObject>(_ object: O?, _ objects: O?...) throws(StorageError) -> Int {
        try delete(([object] + objects).compactMap { $0 as ManagedObject? })
    }

    /// Deletes the objects with ids and applies the delete rules of their relationships.
    ///
    /// - Returns: The number of deleted objects, including those deleted by a cascade.
    @discardableResult
    public func delete<O: ManagedObject>(objectIDs: [ObjectID<O>]) throws(StorageError) -> Int {
        try delete(try fetchExisting(objectIDs))
    }

    /// Deletes all objects of a class that satisfy clauses, following the delete rules.
    @discardableResult
    public func deleteAll<O: ManagedObject>(
        _ from: From<O>, _ clause: any FetchClause<O>, _ more: any FetchClause<O>...
    ) throws(StorageError) -> Int {
        try deleteAll(from, [clause] + more)
    }

    /// Deletes all objects of a class that satisfy clauses, following the delete rules.
    @discardableResult
    public func deleteAll<O: ManagedObject>(_ from: From<O>, _ clauses: [any FetchClause<O>]) throws(StorageError) -> Int {
        try deleteAll(from.applying(clauses))
    }
}

extension UnsafeTransaction {
    /// Commits the changes. The name of `commit` in CoreStore.
    public func commitAndWait() throws(StorageError) { try commit() }

    /// Commits the changes, and calls a completion on the main queue with the error, or nil after a success.
    ///
    /// The commit is complete when the method returns, because the transaction belongs to one thread.
    public func commit(_ completion: @escaping @MainActor (CoreStoreError?) -> Void) {
        do throws(StorageError) {
            try commit()
            DispatchQueue.main.async { completion(nil) }
        } catch {
            DispatchQueue.main.async { completion(error) }
        }
    }
}
