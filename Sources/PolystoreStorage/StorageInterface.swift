public import Foundation

/// A store: the contract that each backend signs.
///
/// It is synchronous and shaped in batches; a session is confined to one thread at a time. Requests were checked and normalised above:
/// a store receives only valid ones. Every verb throws `StorageError` and nothing else, and no verb ends the process.
public protocol StorageInterface: AnyObject, Sendable {
    /// The kind of store, the scheme of its URLs: `memory`, `sqlite`, `postgresql`, `lmdb`.
    static var storeType: String { get }

    /// The name of the configuration whose entities it keeps; nil for all entities.
    var configuration: String? { get }

    /// Opens the place, creating or checking what lies there.
    ///
    /// *Behavior*: without data and with `createIfMissing`, the schema of the request is stored and its tables are made, in one
    /// transaction. With data, the stored schema is compared by hash: another one is `schemaMismatch` naming the first difference
    /// (`SchemaDifference.first`). A request without a schema opens what is there. A second `open` is `alreadyExists`.
    func open(_ request: OpenRequest) throws(StorageError) -> StorageState

    /// What the store can do, known after `open`.
    var capabilities: StorageCapabilities { get }

    /// Starts to read one committed snapshot. Readers never wait for writers.
    ///
    /// *Behavior*: `timeout` or `cancelled` when the limit of the options ends, also in the middle of a statement.
    func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader

    /// Starts a write transaction, serializable against all others; waits for its lane up to the options' timeout (`busy`).
    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter

    /// Closes the store; sessions still open fail with `storeClosed`. A second call does nothing.
    func close() throws(StorageError)

    /// Closes the store and removes all that it kept, files beside its file included.
    func erase() throws(StorageError)
}

/// How sure a commit is before it is acknowledged.
public enum Durability: String, Sendable, Hashable, Codable {
    /// It survives the death of the process and a loss of power.
    case full
    /// It survives the death of the process; a loss of power may take the newest commits, never consistency.
    case relaxed
}

/// How a store is to be opened.
public struct OpenRequest: Sendable {
    /// The wanted schema; nil opens whatever is there and creates nothing.
    public var schema: Schema?
    /// Whether a missing store is made.
    public var createIfMissing: Bool
    /// Whether changes are refused with `readOnly`; `OpenStore` above refuses them.
    public var readOnly: Bool

    /// A request; reads and writes, and creates, unless said otherwise.
    public init(schema: Schema?, createIfMissing: Bool = true, readOnly: Bool = false) {
        self.schema = schema
        self.createIfMissing = createIfMissing
        self.readOnly = readOnly
    }
}

/// What a store holds, as found at `open`.
public struct StorageState: Sendable {
    /// The identity of the store, given when it was made.
    public let storeID: UUID
    /// The schema that it keeps.
    public let schema: Schema
    /// The version of the format on disk.
    public let formatVersion: Int
    /// Whether it was made by this `open`.
    public let wasCreated: Bool
    /// Whether it takes no changes, because of the request or by itself.
    public internal(set) var isReadOnly: Bool

    /// A state.
    public init(storeID: UUID, schema: Schema, formatVersion: Int, wasCreated: Bool, isReadOnly: Bool = false) {
        self.storeID = storeID
        self.schema = schema
        self.formatVersion = formatVersion
        self.wasCreated = wasCreated
        self.isReadOnly = isReadOnly
    }
}

/// How a session that reads is to run.
public struct ReadOptions: Sendable {
    /// When the session has to give up; nil for never.
    public var limit: WorkLimit?

    /// Whether a write transaction waits for the session, which then must not wait for other sessions that read.
    public var isForWriter: Bool

    /// Options; without a limit unless there is one.
    public init(limit: WorkLimit? = nil, isForWriter: Bool = false) {
        self.limit = limit
        self.isForWriter = isForWriter
    }
}

/// How a write transaction is to run.
public struct WriteOptions: Sendable {
    /// Seconds to wait for the lane or the lock: from 0, which stands also for what is no number, to 2,000,000, the most that all engines take.
    public var timeout: TimeInterval { didSet { timeout = Self.bounded(timeout) } }
    /// Whether no other writer may run at the same time: the last attempt of a transaction that met conflicts.
    public var isExclusive: Bool
    /// Whether large amounts follow, so that the engine may prepare for them.
    public var isBulk: Bool
    /// Whether somebody follows what the transaction changes, so that `recordedChanges` is wanted also of a store that keeps no history.
    public var isFollowed: Bool
    /// When the transaction has to give up, in the middle of a statement too, until its commit has begun; nil for never.
    public var limit: WorkLimit?

    /// Options.
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

/// A session that reads one snapshot; with `StorageWriter`, also the transaction's own changes.
public protocol StorageReader: AnyObject {
    /// How the store answers a predicate and an order.
    func pushdown(of plan: FetchPlan) -> Pushdown

    /// The rows of a plan, in its order. A cursor ends with the session, or when it is released.
    ///
    /// *Requires*: `pushdown(of: plan)` is `.exact` or `.inexact`; others are answered by `ReadSession` above.
    func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor

    /// Appends the rows with the given keys of an entity's hierarchy, in the order of the keys; missing ones are left out.
    ///
    /// *Behavior*: bytes of the rows are valid until the batch is cleared.
    func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError)

    /// The pairs of a link table: those whose `side` is among `keys`, or all.
    ///
    /// *Behavior*: ordered by the key at `side`, then by rank, then by the other key. Called with chunks of pairs.
    func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<Link>) throws(StorageError) -> Void
    ) throws(StorageError)

    /// The bytes that are kept beside the data under a name; nil when there are none.
    ///
    /// Notes are for layers above: which stores commit together, how far a consumer of the history has come. They are part of the
    /// transaction like data, but not of the history.
    func note(_ name: String) throws(StorageError) -> Data?

    /// Ends the session. For a writer that did not commit this is a rollback. A second call does nothing.
    func end()
}

/// The rows of a plan, batch by batch.
public protocol RowCursor: AnyObject {
    /// Clears the batch and fills it with the next rows; false when there are no more.
    ///
    /// *Behavior*: bytes may lie in the engine's memory, valid until the next call and as long as the cursor is held and its session open.
    func next(into batch: RowBatch) throws(StorageError) -> Bool
}

/// One pair of a link table.
@frozen
public struct Link: Sendable, Hashable {
    /// The key of the object that owns the order.
    public var owner: Int64
    /// The position among the owner's members, with gaps; 0 where there is no order.
    public var rank: Int64
    /// The key of the other object.
    public var member: Int64

    /// A pair.
    @inlinable
    public init(owner: Int64, rank: Int64 = 0, member: Int64) {
        self.owner = owner
        self.rank = rank
        self.member = member
    }
}

/// A write transaction. It is confined to the thread that began it.
public protocol StorageWriter: StorageReader {
    /// Keys that no committed object ever had, for the hierarchy of an entity: at least one, at most `count`.
    ///
    /// They may be given again when the transaction is rolled back.
    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64>

    /// Writes a change set: deletes first, then updates and inserts, so that the order within it never matters.
    ///
    /// *Behavior*: a violated constraint is `uniqueConstraintViolated` naming entity and constraint; an update or a delete with an
    /// expected version that finds another is `staleObject`; one that finds no row is `notFound`. After an error the writer can only be
    /// rolled back, to a savepoint or as a whole; `WriteSession` above sees to it.
    func apply(_ changes: ChangeSet) throws(StorageError)

    /// Adds rows, or changes those that have the same values under a unique constraint: one after the other, in their order.
    ///
    /// *Requires*: no two rows of one call have the same values under the constraint.
    ///
    /// *Behavior*: rows are added with version 1, and the version of a changed row rises by one, also when the mask names nothing else. A
    /// nil among the constrained values is like no other value, so such a row is added. A row of the constraint that belongs to an entity
    /// outside the family of the asked one, and any other constraint, are `uniqueConstraintViolated`.
    /// - Returns: What became of each row, in their order.
    func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow]

    /// Adds rows in bulk, with their keys and versions, all of entities of one hierarchy; the key counter rises above the greatest key.
    ///
    /// *Behavior*: a bulk load leaves no entries in the history. A key that exists is `alreadyExists`.
    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError)

    /// Adds pairs to a link table in bulk.
    func load(link: Int, _ pairs: [Link]) throws(StorageError)

    /// Keeps bytes beside the data under a name of at most 200 bytes; nil forgets them.
    func setNote(_ name: String, _ bytes: Data?) throws(StorageError)

    /// Marks a point to which `rollback(to:)` returns; marks nest.
    func savepoint() throws(StorageError) -> Int

    /// Undoes everything since a mark, which stays set.
    func rollback(to savepoint: Int) throws(StorageError)

    /// Forgets a mark and those inside it, keeping the changes.
    func release(_ savepoint: Int) throws(StorageError)

    /// Commits, writing one history entry when anything was applied.
    ///
    /// - Returns: The token of the entry, or nil when there was nothing to record.
    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken?
}
