internal import Foundation
public import Polystore
internal import Synchronization

/// CoreStore's façade: the verbs of the default stack on the type itself.
public enum CoreStore {
    private static let stack = Mutex<DataStack?>(nil)

    /// The stack of the façade, made when it is first asked for; replaced by assignment, from any thread.
    ///
    /// Until one is assigned it is a stack without entities: off Apple's platforms no model lies beside the program.
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

    /// Where everything is reported.
    public static var logger: any StoreLogger {
        get { StoreLogging.logger }
        set { StoreLogging.logger = newValue }
    }
}

/// CoreStore's name of `StoreLogger`.
public typealias CoreStoreLogger = StoreLogger
/// CoreStore's name of `StoreLogLevel`.
public typealias LogLevel = StoreLogLevel
/// CoreStore's name of `StorageError`.
public typealias CoreStoreError = StorageError
/// CoreStore's name of `BaseTransaction`.
public typealias BaseDataTransaction = BaseTransaction
/// CoreStore's name of the transaction of `perform(asynchronous:)`.
public typealias AsynchronousDataTransaction = Transaction
/// CoreStore's name of the transaction of `perform(synchronous:)`.
public typealias SynchronousDataTransaction = Transaction
/// CoreStore's name of `UnsafeTransaction`.
public typealias UnsafeDataTransaction = UnsafeTransaction
/// CoreStore 1's name of `UnsafeTransaction`.
public typealias DetachedDataTransaction = UnsafeTransaction

extension StorageError {
    /// What a transaction ends with that was cancelled, to be matched in a `switch`.
    public static var userCancelled: StorageError { StorageError(.cancelled, "the transaction was cancelled") }
}

/// Whether an error is of the kind of another: `case .failure(.userCancelled)`.
public func ~= (pattern: StorageError, error: any Error) -> Bool { (error as? StorageError)?.code == pattern.code }

extension CoreStore {
    #if SQLite
    /// Adds a SQLite store at the default place of the program.
    @discardableResult
    public static func addStorageAndWait() throws(StorageError) -> some StorageInterface { try defaultStack.addStorageAndWait() }
    #endif

    /// Opens a store and adds it.
    @discardableResult
    public static func addStorageAndWait<Storage: StorageInterface>(_ storage: Storage) throws(StorageError) -> Storage {
        try defaultStack.addStorageAndWait(storage)
    }

    /// Opens the store of a kind at its default place and adds it.
    @discardableResult
    public static func addStorageAndWait<Storage: DefaultPlaceStorage>(_ type: Storage.Type) throws(StorageError) -> Storage {
        try defaultStack.addStorageAndWait(type)
    }

    /// Opens a store in the background and adds it; the completion is called on the main queue.
    ///
    /// - Returns: The progress of a migration; nil when nothing has to be migrated.
    @discardableResult
    public static func addStorage<Storage: StorageInterface>(
        _ storage: Storage, completion: @escaping @Sendable (SetupResult<Storage>) -> Void
    ) -> MigrationProgress? {
        defaultStack.addStorage(storage, on: .main, completion: completion)
    }
}

extension CoreStore {
    /// All objects of a class that satisfy a condition.
    public static func fetchAll<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> sending [O] {
        try defaultStack.fetchAll(from.applying(clauses))
    }

    /// The first object of a class that satisfies a condition.
    public static func fetchOne<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> sending O? {
        try defaultStack.fetchOne(from.applying(clauses))
    }

    /// The number of objects of a class that satisfy a condition.
    public static func fetchCount<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> Int {
        try defaultStack.fetchCount(from.applying(clauses))
    }

    /// The ids of the objects of a class that satisfy a condition.
    public static func fetchIDs<O: ManagedObject>(_ from: From<O>, _ clauses: any FetchClause<O>...) throws(StorageError) -> [ObjectID<O>] {
        try defaultStack.fetchIDs(from.applying(clauses))
    }

    /// CoreStore's name of `fetchIDs`.
    public static func fetchObjectIDs<O: ManagedObject>(
        _ from: From<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> [ObjectID<O>] { try defaultStack.fetchIDs(from.applying(clauses)) }

    /// The id of the first object of a class that satisfies a condition.
    public static func fetchObjectID<O: ManagedObject>(
        _ from: From<O>, _ clauses: any FetchClause<O>...
    ) throws(StorageError) -> ObjectID<O>? { try defaultStack.fetchIDs(from.applying(clauses).limit(1)).first }

    /// One value over the objects of a request, computed by the store; nil of nothing.
    public static func queryValue<O: ManagedObject, R: AttributeValue>(_ query: ValueQuery<O, R>) throws(StorageError) -> R? {
        try defaultStack.queryValue(query)
    }

    /// The default stack's own instance of an object of any context; nil when it no longer exists.
    public static func fetchExisting<O: ManagedObject>(_ object: O) throws(StorageError) -> sending O? {
        try defaultStack.fetchExisting(object.objectID)
    }

    /// The default stack's own instances of objects of any context, without those that no longer exist.
    public static func fetchExisting<O: ManagedObject>(_ objects: [O]) throws(StorageError) -> sending [O] {
        try defaultStack.fetchExisting(objects)
    }

    /// The objects with ids, without those that no longer exist.
    public static func fetchExisting<O: ManagedObject>(_ ids: [ObjectID<O>]) throws(StorageError) -> sending [O] {
        try defaultStack.fetchExisting(ids)
    }

    /// The object with an id; nil when it no longer exists.
    public static func fetchExisting<O: ManagedObject>(_ id: ObjectID<O>) throws(StorageError) -> sending O? {
        try defaultStack.fetchExisting(id)
    }
}
