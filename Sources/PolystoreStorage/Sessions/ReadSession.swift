public import PolystoreFoundation

/// A session that reads one snapshot of an open store. A `WriteSession` additionally reads the transaction's own changes.
///
/// It returns exact results for every plan. It is confined to one thread at a time.
public class ReadSession {
    /// The store.
    public final let store: OpenStore
    /// The store's own session.
    package final let reader: any StorageReader
    @exclusivity(unchecked) final var state = State.active

    @exclusivity(unchecked) final var singleRows = SessionAbility<any SingleRowReader>.unknown
    final var valueQueries = SessionAbility<any ValueQueryReader>.unknown
    final var histories = SessionAbility<any HistoryReader>.unknown
    final var unsettledHistories = SessionAbility<any UnsettledHistoryReader>.unknown
    final var explainers = SessionAbility<any PlanExplainer>.unknown
    final var sqlReaders = SessionAbility<any SQLReader>.unknown

    /// Creates a session of a store.
    package init(_ reader: any StorageReader, of store: OpenStore) {
        self.reader = reader
        self.store = store
    }

    /// Returns the store's own session as a type with an ability, or nil if it lacks the ability.
    package final func ability<Ability>(_ type: Ability.Type) -> Ability? { reader.ability(type) }

    /// Returns a session that accesses the store's own session through a forwarding session.
    package final func through(_ forward: (any StorageReader) -> any StorageReader) -> ReadSession {
        ReadSession(forward(reader), of: store)
    }

    /// The schema with which the session reads.
    public final var schema: Schema { store.schema }

    /// Returns the way in which the store itself evaluates the predicate and the order of a plan. The session completes any plan that the
    /// store does not evaluate exactly.
    public final func pushdown(of plan: FetchPlan) -> Pushdown { reader.pushdown(of: bound(plan)) }

    /// Returns a plan in terms of the session's store, with the primary keys that the objects named in the plan have there.
    final func bound(_ plan: FetchPlan) -> FetchPlan { plan.bound(to: store.storeID, in: schema) }

    /// Whether the rows that the session sees do not change.
    final var isSnapshot: Bool { store.capabilities.contains(.snapshotReads) && !(reader is any StorageWriter) }

    /// Returns a cursor over exactly the rows of a plan, in its order. A cursor ends with the session, or when it is released.
    public final func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        try checkActive()
        let residual = ResidualReader(reader, schema: store.schema, isSnapshot: isSnapshot, report: store.residualReport)
        return SessionCursor(try residual.cursor(for: bound(plan)), of: self)
    }

    /// Appends the rows with the given primary keys of an entity's hierarchy, in the order of the keys. Missing rows are skipped.
    ///
    /// The bytes of the rows are valid until the batch is cleared.
    public final func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        try checkActive()
        try reader.rows(entity, keys: keys, into: batch)
    }

    /// Appends the rows with primary keys of a hierarchy, of which only some slots are needed. The others may be nil.
    ///
    /// The order of the rows is not specified.
    package final func rows(_ root: EntityIndex, keys: [Int64], _ slots: SlotMask, into batch: RowBatch) throws(StorageError) {
        try checkActive()
        try reader.rows(root, keys: keys, slots, schema, into: batch)
    }

    /// Calls `body` with the pairs of a link table whose `side` is among `keys`, or with all pairs if `keys` is nil.
    ///
    /// The pairs are ordered by the key at `side`, then by rank, then by the other key. `body` receives them in chunks.
    public final func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
    ) throws(StorageError) {
        try checkActive()
        try reader.links(link, side: side, keys: keys, body)
    }

    /// Returns the bytes stored in the note with the given name, or nil if there is no such note.
    public final func note(_ name: String) throws(StorageError) -> Data? {
        try checkActive()
        return try reader.note(name)
    }

    /// Ends the session. A writer that did not commit is rolled back. A second call does nothing.
    public final func end() {
        state = .ended
        reader.end()
    }
}

extension ReadSession {
    /// The state of a session, which determines the operations that are allowed.
    enum State {
        /// All operations are allowed.
        case active
        /// A change failed and was not undone. All operations throw its error.
        case doomed(StorageError)
        /// The outcome of the commit is in doubt.
        case inDoubt(StorageError)
        /// The session was committed, failed to commit, or was ended.
        case ended
    }

    /// Checks that the session can be used.
    ///
    /// - Throws: The error that prevents further operations; `storeClosed` after the end.
    @inline(__always)
    final func checkActive() throws(StorageError) {
        try store.checkOpen()
        if case .active = state { return }
        try refuse()
    }

    private final func refuse() throws(StorageError) {
        switch state {
        case .active: return
        case .doomed(let error), .inDoubt(let error): throw error
        case .ended: throw .sessionEnded
        }
    }
}
