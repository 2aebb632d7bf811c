public import PolystoreFoundation
internal import Synchronization

/// An open store, which is the type through which all higher layers access a store.
///
/// A store implements the small contract (`StorageInterface`, `StorageReader`, `StorageWriter`) and the abilities that it supports. This
/// class implements the rest once for all stores: the schema, the state of the store and of its sessions, limits, and fallbacks where a
/// store lacks an ability or evaluates a plan only partially.
public final class OpenStore: Sendable {
    /// The store itself.
    public let storage: any StorageInterface
    /// The state that `open` found.
    public let state: StorageState
    /// The schema with which the store is read and written.
    public let schema: Schema
    /// The capabilities of the store.
    public let capabilities: StorageCapabilities

    let migrating: (any MigratingStorage)?
    let notifying: (any ChangeNotifyingStorage)?
    /// Whether this class looks for the note about a move before each write transaction; false if the store does so itself, and nil for a
    /// database of another program, which has no such note.
    let checksMoves: Bool?
    private let isClosed = Atomic(false)
    /// Whether the most recent session could not begin because the store could not be reached.
    private let isLost = Atomic(false)
    /// The closure in a structure: the compiler wraps a bare closure in a further one each time that a generic container gives it out, until
    /// the chain of them is longer than a thread's stack.
    private struct Reporting: Sendable {
        var report: (@Sendable (ResidualWork) -> Void)?
        var reachability: (@Sendable (StorageError?) -> Void)?
    }

    private let reporting = Mutex(Reporting())

    /// Opens a store.
    ///
    /// - Throws: `incompleteCopy` if the store contains a part of the objects of another store because a transfer was interrupted;
    ///   `storeMoved` if another store has replaced the store, unless it is opened only for reading.
    public convenience init(opening storage: any StorageInterface, _ request: OpenRequest) throws(StorageError) {
        var state = try storage.open(request)
        state.isReadOnly = state.isReadOnly || request.readOnly
        self.init(storage, state, schema: request.schema)
        if state.wasCreated || request.acceptsIncompleteCopy { return }
        do throws(StorageError) {
            try CopyNote.check(self)
            if !request.readOnly { try MoveNote.check(self) }
        } catch {
            try? close()
            throw error
        }
    }

    /// Creates an open store from a store that was already opened.
    ///
    /// - Parameters:
    ///   - storage: The store.
    ///   - state: The state that `open` found.
    ///   - schema: The schema with which the store is read and written, with the same hash as the stored one. Nil for the stored schema.
    public init(_ storage: any StorageInterface, _ state: StorageState, schema: Schema? = nil) {
        self.storage = storage
        self.state = state
        self.schema = schema ?? state.schema
        capabilities = storage.capabilities
        migrating = storage.ability((any MigratingStorage).self)
        notifying = storage.ability((any ChangeNotifyingStorage).self)
        let isForeign = storage.ability((any ForeignStorage).self)?.foreignAccess != nil
        checksMoves = isForeign ? nil : storage.ability((any MoveCheckingStorage).self) == nil
    }

    /// A closure that receives the amount of residual work of each answer that the store does not compute entirely by itself. Nil by
    /// default.
    package var residualReport: (@Sendable (ResidualWork) -> Void)? {
        @inline(never) get { reporting.withLock { $0.report } }
        @inline(never) set { reporting.withLock { $0.report = newValue } }
    }

    /// Whether the store checks rules of its own on each write, such as those of the tables of another program.
    package var checksEachWrite: Bool { checksMoves == nil }

    /// A closure that is called when the store can no longer be reached, with the error, and with nil when it can be reached again. Nil by
    /// default.
    package var reachabilityReport: (@Sendable (StorageError?) -> Void)? {
        @inline(never) get { reporting.withLock { $0.reachability } }
        @inline(never) set { reporting.withLock { $0.reachability = newValue } }
    }

    /// The kind of store.
    public var storeType: String { type(of: storage).storeType }

    /// The name of the configuration whose entities the store keeps, or nil for all entities.
    public var configuration: String? { storage.configuration }

    /// The identity of the store.
    public var storeID: UUID { state.storeID }

    /// Returns whether this store and another object are the same store.
    public func isSame(as other: any StorageInterface) -> Bool { storage === other }

    /// Returns the store as a type with an ability, or nil if it lacks the ability.
    public func ability<Ability>(_ type: Ability.Type) -> Ability? { storage.ability(type) }

    /// Returns the same store with another version of the model, for use after a migration.
    package func keeping(_ schema: Schema) -> OpenStore {
        OpenStore(storage, StorageState(storeID: storeID, schema: schema, formatVersion: state.formatVersion, wasCreated: false))
    }

    /// Begins a session that reads one committed snapshot.
    public func beginRead(_ options: ReadOptions = ReadOptions()) throws(StorageError) -> ReadSession {
        try checkOpen()
        return ReadSession(try reaching { () throws(StorageError) in try storage.beginRead(options) }, of: self)
    }

    /// Begins a session, and reports that the store cannot be reached or can be reached again.
    private func reaching<Session>(_ begin: () throws(StorageError) -> Session) throws(StorageError) -> Session {
        do throws(StorageError) {
            let session = try begin()
            if isLost.load(ordering: .relaxed), isLost.exchange(false, ordering: .relaxed) { reachabilityReport?(nil) }
            return session
        } catch {
            if error.code == .connectionLost, !isLost.exchange(true, ordering: .relaxed) { reachabilityReport?(error) }
            throw error
        }
    }

    /// Begins a write transaction.
    ///
    /// - Throws: `readOnly` if the store was opened read-only; `busy` after the timeout of the options; `storeMoved` if the objects of the
    ///   store have been moved to another store, or are being moved.
    public func beginWrite(_ options: WriteOptions = WriteOptions()) throws(StorageError) -> WriteSession {
        try checkWritable()
        let writer = try reaching { () throws(StorageError) in try storage.beginWrite(options) }
        if checksMoves == true, !options.isMove {
            do throws(StorageError) { try MoveNote.refuse(writer.note(MoveNote.name)) } catch {
                writer.end()
                throw error
            }
        }
        return WriteSession(writer, of: self, isFollowed: options.isFollowed)
    }

    /// Closes the store. A second call does nothing.
    public func close() throws(StorageError) {
        isClosed.store(true, ordering: .releasing)
        try storage.close()
    }

    /// Closes the store and removes all its data.
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
            // The store's own error is more specific: it states the reason and a remedy.
            throw error
        } catch {}
        throw StorageError(.readOnly, "the store was opened read-only")
    }
}

extension StorageError {
    /// The error of a session that has ended, and of a store that was closed.
    static var sessionEnded: StorageError { StorageError(.storeClosed, "the session or its store was closed") }
}
