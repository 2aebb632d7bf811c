public import Foundation
internal import Synchronization

/// A store that is open: what everything above the stores works with.
///
/// A store implements the small contract (`StorageInterface`, `StorageReader`, `StorageWriter`) and the abilities that it has. Here is the
/// rest, once for all stores: the schema, the state of store and sessions, limits, and answers where a store lacks an ability or answers
/// a plan only in part.
public final class OpenStore: Sendable {
    /// The store itself.
    public let storage: any StorageInterface
    /// What `open` found.
    public let state: StorageState
    /// The schema in which the store is read and written.
    public let schema: Schema
    /// What the store can do.
    public let capabilities: StorageCapabilities

    let migrating: (any MigratingStorage)?
    let notifying: (any ChangeNotifyingStorage)?
    private let isClosed = Atomic(false)
    private let reporting = Mutex<(@Sendable (ResidualWork) -> Void)?>(nil)

    /// Opens a store.
    public convenience init(opening storage: any StorageInterface, _ request: OpenRequest) throws(StorageError) {
        var state = try storage.open(request)
        state.isReadOnly = state.isReadOnly || request.readOnly
        self.init(storage, state, schema: request.schema)
    }

    /// A store that was opened.
    ///
    /// - Parameters:
    ///   - storage: The store.
    ///   - state: What `open` found.
    ///   - schema: The schema in which it is read and written, of the same hash; nil for the one that it keeps.
    public init(_ storage: any StorageInterface, _ state: StorageState, schema: Schema? = nil) {
        self.storage = storage
        self.state = state
        self.schema = schema ?? state.schema
        capabilities = storage.capabilities
        migrating = storage.ability((any MigratingStorage).self)
        notifying = storage.ability((any ChangeNotifyingStorage).self)
    }

    /// Told what answers have read that the store does not give by itself; nobody unless one is assigned.
    package var residualReport: (@Sendable (ResidualWork) -> Void)? {
        @inline(never) get { reporting.withLock { $0 } }
        @inline(never) set { reporting.withLock { $0 = newValue } }
    }

    /// The kind of store.
    public var storeType: String { type(of: storage).storeType }

    /// The name of the configuration whose entities it keeps; nil for all entities.
    public var configuration: String? { storage.configuration }

    /// The identity of the store.
    public var storeID: UUID { state.storeID }

    /// Whether two objects are the same store.
    public func isSame(as other: any StorageInterface) -> Bool { storage === other }

    /// The store itself as one with an ability; nil where it lacks it.
    public func ability<Ability>(_ type: Ability.Type) -> Ability? { storage.ability(type) }

    /// The same store with another version of the model, as after a migration.
    package func keeping(_ schema: Schema) -> OpenStore {
        OpenStore(storage, StorageState(storeID: storeID, schema: schema, formatVersion: state.formatVersion, wasCreated: false))
    }

    /// Starts to read one committed snapshot.
    public func beginRead(_ options: ReadOptions = ReadOptions()) throws(StorageError) -> ReadSession {
        try checkOpen()
        return ReadSession(try storage.beginRead(options), of: self)
    }

    /// Starts a write transaction.
    ///
    /// - Throws: `readOnly` where the store was opened for reading only; `busy` after the options' timeout.
    public func beginWrite(_ options: WriteOptions = WriteOptions()) throws(StorageError) -> WriteSession {
        try checkWritable()
        return WriteSession(try storage.beginWrite(options), of: self, isFollowed: options.isFollowed)
    }

    /// Closes the store; a second call does nothing.
    public func close() throws(StorageError) {
        isClosed.store(true, ordering: .releasing)
        try storage.close()
    }

    /// Closes the store and removes all that it kept.
    public func erase() throws(StorageError) {
        isClosed.store(true, ordering: .releasing)
        try storage.erase()
    }

    @inline(__always)
    func checkOpen() throws(StorageError) { if isClosed.load(ordering: .acquiring) { throw .sessionEnded } }

    func checkWritable() throws(StorageError) {
        try checkOpen()
        if !state.isReadOnly { return }
        do throws(StorageError) { try storage.beginWrite(WriteOptions(timeout: 0)).end() } catch  where error.code == .readOnly {
            // The store knows more: why, and what can be done.
            throw error
        } catch {}
        throw StorageError(.readOnly, "the store was opened for reading only")
    }
}

extension StorageError {
    /// The answer of a session that has ended, and of a store that was closed.
    static var sessionEnded: StorageError { StorageError(.storeClosed, "the session or its store was closed") }
}
