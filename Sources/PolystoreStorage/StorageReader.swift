public import PolystoreFoundation

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
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
    ) throws(StorageError)

    /// Returns the bytes stored in the note with the given name, or nil if there is no such note.
    ///
    /// Notes are for layers above: they record, for example, which stores commit together and how much of the history a consumer has
    /// processed. They are part of the transaction like data, but not of the history.
    func note(_ name: String) throws(StorageError) -> Data?

    /// Ends the session. A writer that did not commit is rolled back. A second call does nothing.
    func end()
}
