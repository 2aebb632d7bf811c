internal import Foundation
public import Polystore
internal import Synchronization

/// The façade of CoreStore, which provides the operations of the default stack as static methods.
public enum CoreStore {
    private static let stack = Mutex<DataStack?>(nil)

    /// The stack of the façade. It is created on first access, and can be replaced from any thread.
    ///
    /// The initial stack has no entities, because on platforms other than Apple's there is no model in the program's resources.
    public static var defaultStack: DataStack {
        get {
            stack.withLock { stack in
                if let stack { return stack }
                let made = DataStack()
                stack = made
                return made
            }
        }
        set { stack.withLock { $0 = newValue } }
    }

    /// The logger that receives all reports.
    public static var logger: any StoreLogger {
        get { StoreLogging.logger }
        set { StoreLogging.logger = newValue }
    }
}

/// The name of `StoreLogger` in CoreStore.
public typealias CoreStoreLogger = StoreLogger
/// The name of `StoreLogLevel` in CoreStore.
public typealias LogLevel = StoreLogLevel
/// The name of `StorageError` in CoreStore.
public typealias CoreStoreError = StorageError
/// The name of `BaseTransaction` in CoreStore.
public typealias BaseDataTransaction = BaseTransaction
/// The type of the transaction of `perform(asynchronous:)` in CoreStore.
public typealias AsynchronousDataTransaction = WriteTransaction
/// The type of the transaction of `perform(synchronous:)` in CoreStore.
public typealias SynchronousDataTransaction = WriteTransaction
/// The name of `UnsafeTransaction` in CoreStore.
public typealias UnsafeDataTransaction = UnsafeTransaction
/// The name of `UnsafeTransaction` in CoreStore 1.
public typealias DetachedDataTransaction = UnsafeTransaction

extension StorageError {
    /// The error of a cancelled transaction, as a pattern for a `switch`.
    public static var userCancelled: StorageError { StorageError(.cancelled, "the transaction was cancelled") }
}

/// Returns whether an error has the same code as another one: `case .failure(.userCancelled)`.
public func ~= (pattern: StorageError, error: any Error) -> Bool { (error as? StorageError)?.code == pattern.code }

extension CoreStore {
    #if SQLite
    /// Adds a SQLite store at the program's default location.
    @discardableResult
    public static func addStorageAndWait() throws(StorageError) -> some StorageInterface { try defaultStack.addStorageAndWait() }
    #endif

    /// Opens a store and adds it.
    @discardableResult
    public static func addStorageAndWait<Storage: StorageInterface>(_ storage: Storage) throws(StorageError) -> Storage {
        try defaultStack.addStorageAndWait(storage)
    }

    /// Opens the store of a kind at its default location and adds it.
    @discardableResult
    public static func addStorageAndWait<Storage: DefaultPlaceStorage>(_ type: Storage.Type) throws(StorageError) -> Storage {
        try defaultStack.addStorageAndWait(type)
    }

    /// Opens a store in the background and adds it. The completion is called on the main queue.
    ///
    /// - Returns: The progress of a migration, or nil if no migration is necessary.
    @discardableResult
    public static func addStorage<Storage: StorageInterface>(
        _ storage: Storage, completion: @escaping @Sendable (SetupResult<Storage>) -> Void
    ) -> MigrationProgress? {
        defaultStack.addStorage(storage, on: .main, completion: completion)
    }
}

extension CoreStore {
    /// Returns the objects of a class that satisfy a condition.
    public static func fetchAll<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> sending [O] {
        try defaultStack.fetchAll(from.applying(clauses))
    }

    /// Returns the first object of a class that satisfies a condition.
    public static func fetchOne<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> sending O? {
        try defaultStack.fetchOne(from.applying(clauses))
    }

    /// Returns the number of objects of a class that satisfy a condition.
    public static func fetchCount<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> Int {
        try defaultStack.fetchCount(from.applying(clauses))
    }

    /// Returns the ids of the objects of a class that satisfy a condition.
    public static func fetchIDs<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> [ObjectID<O>] {
        try defaultStack.fetchIDs(from.applying(clauses))
    }

    /// Returns the ids of the objects of a class that satisfy a condition. The name of `fetchIDs` in CoreStore.
    public static func fetchObjectIDs<O: ManagedObject>(
        _ from: From<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> [ObjectID<O>] { try defaultStack.fetchIDs(from.applying(clauses)) }

    /// Returns the id of the first object of a class that satisfies a condition.
    public static func fetchObjectID<O: ManagedObject>(
        _ from: From<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> ObjectID<O>? { try defaultStack.fetchIDs(from.applying(clauses).limit(1)).first }

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
