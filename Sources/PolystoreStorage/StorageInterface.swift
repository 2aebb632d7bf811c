public import Foundation

/// The contract that every backend implements.
///
/// The contract is synchronous and works in batches. A session is confined to one thread at a time. The layer above checks and normalises
/// requests, so a store receives only valid ones. Every method throws `StorageError` and no other error, and no method ends the process.
/// `Conformance/Contract.md` defines the results of every store, clause by clause.
public protocol StorageInterface: AnyObject, Sendable {
    /// The kind of store, which is the scheme of its URLs: `memory`, `sqlite`, `postgresql`, `lmdb`.
    static var storeType: String { get }

    /// The name of the configuration whose entities the store keeps, or nil for all entities.
    var configuration: String? { get }

    /// Opens the store. Creates it if it is missing, or checks the stored schema.
    ///
    /// *Behavior*: if there is no data and `createIfMissing` is set, the store saves the schema of the request and creates its tables in
    /// one transaction. If there is data, the store compares the stored schema by hash; a different schema is `schemaMismatch`, which names
    /// the first difference (`SchemaDifference.first`). A request without a schema opens the stored one. A second `open` is
    /// `alreadyExists`.
    func open(_ request: OpenRequest) throws(StorageError) -> StorageState

    /// The capabilities of the store, which are known after `open`.
    var capabilities: StorageCapabilities { get }

    /// Begins a session that reads one committed snapshot. Readers never wait for writers.
    ///
    /// *Behavior*: throws `timeout` or `cancelled` when the limit of the options ends, even in the middle of a statement.
    func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader

    /// Begins a write transaction, serializable against all others. Waits for the write lock for at most the timeout of the options
    /// (`busy`).
    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter

    /// Closes the store. Sessions that are still open fail with `storeClosed`. A second call does nothing.
    func close() throws(StorageError)

    /// Closes the store and removes all its data, including the files next to its main file.
    func erase() throws(StorageError)
}

/// The guarantee that a store gives when it acknowledges a commit.
public enum Durability: String, Sendable, Hashable, Codable {
    /// The commit survives a crash of the process and a loss of power.
    case full
    /// The commit survives a crash of the process. A loss of power may discard the newest commits but never affects consistency.
    case relaxed
}

/// The options with which a store is opened.
public struct OpenRequest: Sendable {
    /// The requested schema. Nil opens whatever schema is stored and creates nothing.
    public var schema: Schema?
    /// Whether a missing store is created.
    public var createIfMissing: Bool
    /// Whether changes are refused with `readOnly`. `OpenStore`, the layer above, refuses them.
    public var readOnly: Bool

    /// Creates a request. By default the store accepts reads and writes and is created if it is missing.
    public init(schema: Schema?, createIfMissing: Bool = true, readOnly: Bool = false) {
        self.schema = schema
        self.createIfMissing = createIfMissing
        self.readOnly = readOnly
    }
}

/// The state of a store, as found at `open`.
public struct StorageState: Sendable {
    /// The identity of the store, assigned when it was created.
    public let storeID: UUID
    /// The stored schema.
    public let schema: Schema
    /// The version of the on-disk format.
    public let formatVersion: Int
    /// Whether this `open` created the store.
    public let wasCreated: Bool
    /// Whether the store refuses changes, either because of the request or because of the store itself.
    public internal(set) var isReadOnly: Bool

    /// Creates a state.
    public init(storeID: UUID, schema: Schema, formatVersion: Int, wasCreated: Bool, isReadOnly: Bool = false) {
        self.storeID = storeID
        self.schema = schema
        self.formatVersion = formatVersion
        self.wasCreated = wasCreated
        self.isReadOnly = isReadOnly
    }
}

/// The options of a read session.
public struct ReadOptions: Sendable {
    /// The limit after which the session must give up, or nil for no limit.
    public var limit: WorkLimit?

    /// Whether a write transaction waits for this session. Such a session must not wait for other read sessions.
    public var isForWriter: Bool

    /// Creates options, by default without a limit.
    public init(limit: WorkLimit? = nil, isForWriter: Bool = false) {
        self.limit = limit
        self.isForWriter = isForWriter
    }
}

/// The options of a write transaction.
public struct WriteOptions: Sendable {
    /// The number of seconds to wait for the write lock: from 0, which also replaces NaN, to 2,000,000, the highest value that all engines
    /// accept.
    public var timeout: TimeInterval { didSet { timeout = Self.bounded(timeout) } }
    /// Whether no other writer may run at the same time. The last attempt of a transaction that met conflicts sets it.
    public var isExclusive: Bool
    /// Whether large amounts of data follow, so that the engine can prepare for them.
    public var isBulk: Bool
    /// Whether an observer needs the changes of the transaction, so that `recordedChanges` is required even from a store that keeps no
    /// history.
    public var isFollowed: Bool
    /// The limit after which the transaction must give up, even in the middle of a statement, until its commit has begun. Nil for no limit.
    public var limit: WorkLimit?

    /// Creates options.
    public init(
        timeout: TimeInterval = 30, isExclusive: Bool = false, isBulk: Bool = false, isFollowed: Bool = false, limit: WorkLimit? = nil
    ) {
        self.timeout = Self.bounded(timeout)
        self.isExclusive = isExclusive
        self.isBulk = isBulk
        self.isFollowed = isFollowed
        self.limit = limit
    }

    private static func bounded(_ timeout: TimeInterval) -> TimeInterval { timeout.isNaN ? 0 : min(max(timeout, 0), 2_000_000) }
}

/// A session that reads one snapshot. If it is also a `StorageWriter`, it additionally reads the transaction's own changes.
public protocol StorageReader: AnyObject {
    /// Returns the way in which the store evaluates the predicate and the order of a plan.
    func pushdown(of plan: FetchPlan) -> Pushdown

    /// Returns a cursor over the rows of a plan, in its order. A cursor ends with the session, or when it is released.
    ///
    /// *Requires*: `pushdown(of: plan)` is `.exact` or `.inexact`. `ReadSession`, the layer above, evaluates other plans.
    func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor

    /// Appends the rows with the given primary keys of an entity's hierarchy, in the order of the keys. Missing rows are skipped.
    ///
    /// *Behavior*: the bytes of the rows are valid until the batch is cleared.
    func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError)

    /// Calls `body` with the pairs of a link table whose `side` is among `keys`, or with all pairs if `keys` is nil.
    ///
    /// *Behavior*: the pairs are ordered by the key at `side`, then by rank, then by the other key. `body` receives them in chunks.
    func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<Link>) throws(StorageError) -> Void
    ) throws(StorageError)

    /// Returns the bytes stored in the note with the given name, or nil if there is no such note.
    ///
    /// Notes are for layers above: they record, for example, which stores commit together and how much of the history a consumer has
    /// processed. They are part of the transaction like data, but not of the history.
    func note(_ name: String) throws(StorageError) -> Data?

    /// Ends the session. A writer that did not commit is rolled back. A second call does nothing.
    func end()
}

/// A cursor that returns the rows of a plan in batches.
public protocol RowCursor: AnyObject {
    /// Clears the batch and fills it with the next rows. Returns false when there are no more rows.
    ///
    /// *Behavior*: bytes may reside in the engine's memory. They are valid until the next call, and only while the cursor is retained and
    /// its session is open.
    func next(into batch: RowBatch) throws(StorageError) -> Bool
}

/// A pair of a link table.
@frozen
public struct Link: Sendable, Hashable {
    /// The primary key of the object that owns the order.
    public var owner: Int64
    /// The position among the owner's members, with gaps, or 0 if the relationship is not ordered.
    public var rank: Int64
    /// The primary key of the other object.
    public var member: Int64

    /// Creates a pair.
    @inlinable
    public init(owner: Int64, rank: Int64 = 0, member: Int64) {
        self.owner = owner
        self.rank = rank
        self.member = member
    }
}

/// A write transaction, confined to the thread that began it.
public protocol StorageWriter: StorageReader {
    /// Reserves primary keys that no committed object ever had, for the hierarchy of an entity: at least one, at most `count`.
    ///
    /// The store may reserve the same keys again after the transaction was rolled back.
    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64>

    /// Writes a change set. Deletes come first, then updates and inserts, so that the order within the change set never matters.
    ///
    /// *Behavior*: a violated constraint is `uniqueConstraintViolated`, which names the entity and the constraint. An update or a delete
    /// with an expected version that finds another version is `staleObject`; one that finds no row is `notFound`. After an error the writer
    /// can only be rolled back, to a savepoint or as a whole; `WriteSession`, the layer above, enforces this.
    func apply(_ changes: ChangeSet) throws(StorageError)

    /// Inserts rows, or updates the rows that have the same values under a unique constraint, one after the other in their order.
    ///
    /// *Requires*: no two rows of one call have the same values under the constraint.
    ///
    /// *Behavior*: inserted rows have version 1. The version of an updated row is incremented by one, even if the mask names no other slot.
    /// A nil among the constrained values is not equal to any value, so such a row is inserted. If the row with the same values belongs to
    /// an entity outside the family of the given entity, or if another constraint is violated, the error is `uniqueConstraintViolated`.
    /// - Returns: The result of each row, in their order.
    func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow]

    /// Inserts rows in bulk, with their primary keys and versions, all of entities of one hierarchy. The key counter rises above the
    /// greatest key.
    ///
    /// *Behavior*: a bulk load leaves no entries in the history. A primary key that exists is `alreadyExists`.
    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError)

    /// Inserts pairs into a link table in bulk.
    func load(link: Int, _ pairs: [Link]) throws(StorageError)

    /// Stores bytes in a note with a name of at most 200 bytes. Nil removes the note.
    func setNote(_ name: String, _ bytes: Data?) throws(StorageError)

    /// Creates a savepoint to which `rollback(to:)` returns. Savepoints can be nested.
    func savepoint() throws(StorageError) -> Int

    /// Undoes all changes since a savepoint, which remains set.
    func rollback(to savepoint: Int) throws(StorageError)

    /// Releases a savepoint and those nested in it, keeping the changes.
    func release(_ savepoint: Int) throws(StorageError)

    /// Commits the transaction and writes one history entry if any changes were applied.
    ///
    /// - Returns: The token of the entry, or nil if there was nothing to record.
    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken?
}
