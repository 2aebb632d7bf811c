public import Foundation

/// A session that reads one snapshot of an open store; as a `WriteSession` also the transaction's own changes.
///
/// It answers every plan exactly. It is confined to one thread at a time.
public class ReadSession {
    /// The store.
    public final let store: OpenStore
    /// The session of the store itself.
    package final let reader: any StorageReader
    @exclusivity(unchecked) final var state = State.active

    @exclusivity(unchecked) final var singleRows = SessionAbility<any SingleRowReader>.unknown
    final var valueQueries = SessionAbility<any ValueQueryReader>.unknown
    final var histories = SessionAbility<any HistoryReader>.unknown
    final var unsettledHistories = SessionAbility<any UnsettledHistoryReader>.unknown
    final var explainers = SessionAbility<any PlanExplainer>.unknown
    final var sqlReaders = SessionAbility<any SQLReader>.unknown

    /// A session of a store.
    package init(_ reader: any StorageReader, of store: OpenStore) {
        self.reader = reader
        self.store = store
    }

    /// The session of the store itself as one with an ability; nil where it lacks it.
    package final func ability<Ability>(_ type: Ability.Type) -> Ability? { reader.ability(type) }

    /// The same session by way of another one that forwards to it.
    package final func through(_ forward: (any StorageReader) -> any StorageReader) -> ReadSession {
        ReadSession(forward(reader), of: store)
    }

    /// The schema in which it reads.
    public final var schema: Schema { store.schema }

    /// How the store itself answers a predicate and an order; what it does not answer exactly is done above it.
    public final func pushdown(of plan: FetchPlan) -> Pushdown { reader.pushdown(of: bound(plan)) }

    /// A plan as the session's store answers it, with the keys that the objects which it names have there.
    final func bound(_ plan: FetchPlan) -> FetchPlan { plan.bound(to: store.storeID, in: schema) }

    /// The rows of a plan, exactly, in its order. A cursor ends with the session, or when it is released.
    public final func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        try checkActive()
        let residual = ResidualReader(reader, schema: store.schema, report: store.residualReport)
        return SessionCursor(try residual.cursor(for: bound(plan)), of: self)
    }

    /// Appends the rows with the given keys of an entity's hierarchy, in the order of the keys; missing ones are left out.
    ///
    /// Bytes of the rows are valid until the batch is cleared.
    public final func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        try checkActive()
        try reader.rows(entity, keys: keys, into: batch)
    }

    /// The pairs of a link table: those whose `side` is among `keys`, or all.
    ///
    /// They are ordered by the key at `side`, then by rank, then by the other key, and handed over in chunks.
    public final func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<Link>) throws(StorageError) -> Void
    ) throws(StorageError) {
        try checkActive()
        try reader.links(link, side: side, keys: keys, body)
    }

    /// The bytes that are kept beside the data under a name; nil when there are none.
    public final func note(_ name: String) throws(StorageError) -> Data? {
        try checkActive()
        return try reader.note(name)
    }

    /// Ends the session. For a writer that did not commit this is a rollback. A second call does nothing.
    public final func end() {
        state = .ended
        reader.end()
    }
}

extension ReadSession {
    /// What can still be done with a session.
    enum State {
        /// Everything.
        case active
        /// A change failed and was not undone: the error is all that is left to throw.
        case doomed(StorageError)
        /// Whether the transaction was committed is unknown.
        case inDoubt(StorageError)
        /// It was committed, has failed to commit, or was ended.
        case ended
    }

    /// - Throws: The error after which nothing can be done any more; `storeClosed` after the end.
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
