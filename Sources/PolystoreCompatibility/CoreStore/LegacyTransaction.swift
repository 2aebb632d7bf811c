internal import Dispatch
public import Polystore

/// A transaction in the form of CoreStore 1. It must be committed exactly once, before its closure ends.
public class LegacyTransaction: FetchSource {
    /// The underlying transaction.
    public let base: WriteTransaction
    private(set) var isCommitted = false
    private(set) var hadChanges = false

    init(_ base: WriteTransaction) { self.base = base }

    /// The context that fetches use.
    public var _fetchContext: ObjectContext {
        get throws(StorageError) {
            try checkOpen()
            return try base._fetchContext
        }
    }

    private func checkOpen() throws(StorageError) {
        if isCommitted { throw StorageError(.storeClosed, "the transaction is already committed; begin another one") }
    }

    /// Creates an object.
    public func create<O: ManagedObject>(_ into: Into<O>) throws(StorageError) -> O {
        try checkOpen()
        return try base.create(into)
    }

    /// Creates an object of a class.
    public func create<O: ManagedObject>(_ type: O.Type) throws(StorageError) -> O { try create(Into<O>()) }

    /// Returns the transaction's own instance of an object of any context, or nil if the object no longer exists.
    public func edit<O: ManagedObject>(_ object: O) throws(StorageError) -> O? {
        try checkOpen()
        return try base.edit(object)
    }

    /// Deletes objects, following their delete rules.
    @discardableResult
    public func delete(_ objects: ManagedObject...) throws(StorageError) -> Int { try delete(objects) }

    /// Deletes objects, following their delete rules.
    @discardableResult
    public func delete(_ objects: [ManagedObject]) throws(StorageError) -> Int {
        try checkOpen()
        return try base.delete(objects)
    }

    /// Deletes all objects of a class that satisfy clauses.
    @discardableResult
    public func deleteAll<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> Int {
        try checkOpen()
        return try base.deleteAll(from, clauses)
    }

    /// Marks the changes to be committed when the closure ends.
    ///
    /// - Throws: `storeClosed` if it was called before.
    public func commit() throws(StorageError) {
        try checkOpen()
        hadChanges = base.hasChanges
        isCommitted = true
    }
}
