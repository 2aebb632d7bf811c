public import PolystoreStorage
internal import Synchronization

/// A store that forwards to another one and fails where a test wants it, to test what a program does with errors.
///
/// ```swift
/// let store = FailingStore(InMemoryStore())
/// try stack.addStorageAndWait(store)
/// store.fail(.commit, with: StorageError(.diskFull, "no space is left"))
/// ```
public final class FailingStore: ForwardingStore {
    /// An operation of a store that can be made to fail.
    public enum Operation: Sendable, Hashable, CaseIterable {
        /// The store is opened, by adding it to a stack.
        case open
        /// A read begins: a fetch, a query, or a relationship that is loaded.
        case beginRead
        /// A write transaction begins.
        case beginWrite
        /// A write transaction commits. If this fails, nothing is stored.
        case commit
        /// A commit is confirmed. If this fails, everything is stored, and the program does not know it.
        case confirm
    }

    private struct Failure: Sendable {
        let error: StorageError
        /// The failures that are left; nil for all.
        var left: Int?
    }

    /// The kind of store, `failing`.
    public static let storeType = "failing"
    /// The store that receives the forwarded calls.
    public let base: any StorageInterface
    private let failures = Mutex<[Operation: Failure]>([:])

    /// Creates a store over another one. All operations succeed until `fail(_:with:times:)`.
    public init(_ base: any StorageInterface) { self.base = base }

    /// Makes the next calls of an operation fail, in place of an earlier instruction for it.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - error: The error that it throws.
    ///   - times: The number of calls that fail; nil for all until `repair()`.
    public func fail(_ operation: Operation, with error: StorageError, times: Int? = 1) {
        failures.withLock { $0[operation] = Failure(error: error, left: times) }
    }

    /// Makes all operations succeed again.
    public func repair() { failures.withLock { $0.removeAll() } }

    /// Opens the other store.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        try pass(.open)
        return try base.open(request)
    }

    /// Begins a read session of the other store.
    public func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader {
        try pass(.beginRead)
        return try base.beginRead(options)
    }

    /// Begins a write transaction of the other store.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        try pass(.beginWrite)
        return Writer(try base.beginWrite(options), self)
    }

    private func pass(_ operation: Operation) throws(StorageError) {
        let error = failures.withLock { failures -> StorageError? in
            guard let failure = failures[operation], failure.left.map({ $0 > 0 }) ?? true else { return nil }
            failures[operation]?.left = failure.left.map { $0 - 1 }
            return failure.error
        }
        if let error { throw error }
    }

    private final class Writer: ForwardingWriter {
        let writer: any StorageWriter
        private let store: FailingStore

        init(_ writer: any StorageWriter, _ store: FailingStore) {
            self.writer = writer
            self.store = store
        }

        func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
            try store.pass(.commit)
            let token = try writer.commit(record)
            try store.pass(.confirm)
            return token
        }
    }
}
