public import PolystoreFoundation

/// A write transaction, confined to the thread that began it.
public protocol StorageWriter: StorageReader {
    /// Reserves primary keys that no committed object ever had, for the hierarchy of an entity: at least one, at most `count`.
    ///
    /// The store may reserve the same keys again after the transaction was rolled back.
    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64>

    /// Writes a change set. Deletes come first, then updates and inserts, so that the order within the change set never matters.
    ///
    /// *Behavior*: a violated constraint is `uniqueConstraintViolated`, which names the entity and the constraint. An update or a delete
    /// with an expected version that finds another version is `staleObject`; one that finds no row is `notFound`. Both precede a violated
    /// constraint. After an error the writer can only be rolled back, to a savepoint or as a whole; `WriteSession`, the layer above,
    /// enforces this.
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
    func load(link: Int, _ pairs: [LinkPair]) throws(StorageError)

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
