internal import Dispatch
public import Polystore
internal import Synchronization

/// The result of a commit in CoreStore 1.
public enum SaveResult: Sendable {
    /// The commit succeeded. `hasChanges` indicates whether there were changes to commit.
    case success(hasChanges: Bool)
    /// Nothing was committed, because of the given error.
    case failure(any Error)
}

/// A transaction in the form of CoreStore 1. It must be committed exactly once, before its closure ends.
public class LegacyTransaction: FetchSource {
    /// The underlying transaction.
    public let base: Transaction
    private(set) var isCommitted = false
    private(set) var hadChanges = false

    init(_ base: Transaction) { self.base = base }

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

    /// Deletes all objects of a class that satisfy a condition.
    @discardableResult
    public func deleteAll<O: ManagedObject>(_ from: From<O>, _ clauses: Where<O>...) throws(StorageError) -> Int {
        try checkOpen()
        return try base.deleteAll(clauses.reduce(from) { $0.where($1) })
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

/// A transaction in the form of CoreStore 1 that reports the result of its commit.
public final class LegacyAsynchronousTransaction: LegacyTransaction {
    private(set) var completion: (@Sendable (SaveResult) -> Void)?

    /// Marks the changes to be committed when the closure ends, and reports the result on the main queue.
    public func commit(_ completion: @escaping @Sendable (SaveResult) -> Void) throws(StorageError) {
        try commit()
        self.completion = completion
    }
}

/// Passes the completion that a closure registers to the queue on which it is called.
private final class SaveHandler: Sendable {
    private let completion = Mutex<(@Sendable (SaveResult) -> Void)?>(nil)

    /// Sets the completion. A closure that is repeated sets it again.
    func set(_ completion: (@Sendable (SaveResult) -> Void)?) { self.completion.withLock { $0 = completion } }

    func call(_ result: Result<SaveResult, any Error>) {
        let completion = completion.withLock { $0 }
        do { completion?(try result.get()) } catch { completion?(.failure(error)) }
    }
}

/// An error that is thrown to undo uncommitted changes.
private struct Uncommitted: Error {}

extension DataStack {
    /// Runs a closure in the background. Uncommitted changes are undone, with a warning to the logger.
    public func beginAsynchronous(_ body: sending @escaping (LegacyAsynchronousTransaction) throws -> Void) {
        let body = Carried(body), handler = SaveHandler()
        perform(
            asynchronous: { transaction in
                let legacy = LegacyAsynchronousTransaction(transaction)
                defer { handler.set(legacy.completion) }
                try body.content(legacy)
                if !legacy.isCommitted { try Self.warn(transaction) }
                return legacy.hadChanges
            }, on: .main
        ) { result in handler.call(result.map { .success(hasChanges: $0) }) }
    }

    /// Runs a closure and waits for it. Uncommitted changes are undone, with a warning to the logger.
    public func beginSynchronous(_ body: (LegacyTransaction) throws -> Void) throws {
        do {
            try perform(synchronous: { transaction in
                let legacy = LegacyTransaction(transaction)
                try body(legacy)
                if !legacy.isCommitted { try Self.warn(transaction) }
            })
        } catch is Uncommitted {}
    }

    /// Begins a detached transaction, which is not tied to a closure.
    public func beginDetached() -> sending UnsafeTransaction { beginUnsafe() }

    private static func warn(_ transaction: Transaction) throws {
        if transaction.hasChanges {
            StoreLogging.logger.log(
                level: .warning, message: "a transaction ended with uncommitted changes, which were rolled back", fileName: #fileID,
                lineNumber: #line, functionName: #function)
        }
        throw Uncommitted()
    }
}

extension CoreStore {
    /// Runs a closure in the background. Uncommitted changes are undone.
    public static func beginAsynchronous(_ body: sending @escaping (LegacyAsynchronousTransaction) throws -> Void) {
        defaultStack.beginAsynchronous(body)
    }

    /// Runs a closure and waits for it. Uncommitted changes are undone.
    public static func beginSynchronous(_ body: (LegacyTransaction) throws -> Void) throws { try defaultStack.beginSynchronous(body) }

    /// Begins a detached transaction, which is not tied to a closure.
    public static func beginDetached() -> sending UnsafeTransaction { defaultStack.beginDetached() }
}
