public import PolystoreFoundation

/// A write transaction that forwards every call to another write transaction, except for those that the conforming type implements.
public protocol ForwardingWriter: ForwardingReader, StorageWriter {
    /// The transaction that receives the forwarded calls.
    var writer: any StorageWriter { get }
}

extension ForwardingWriter {
    /// The transaction that receives the forwarded calls.
    public var reader: any StorageReader { writer }

    /// Reserves primary keys in the other transaction.
    public func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        try writer.reserveKeys(entity, count: count)
    }

    /// Writes a change set to the other transaction.
    public func apply(_ changes: ChangeSet) throws(StorageError) { try writer.apply(changes) }

    /// Inserts or updates rows in the other transaction.
    public func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] { try writer.upsert(upsert) }

    /// Loads rows into the other transaction.
    public func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) { try writer.load(root, batch) }

    /// Loads pairs into the other transaction.
    public func load(link: Int, _ pairs: [LinkPair]) throws(StorageError) { try writer.load(link: link, pairs) }

    /// Stores the bytes of a note in the other transaction.
    public func setNote(_ name: String, _ bytes: Data?) throws(StorageError) { try writer.setNote(name, bytes) }

    /// Creates a savepoint in the other transaction.
    public func savepoint() throws(StorageError) -> Int { try writer.savepoint() }

    /// Rolls back to a savepoint of the other transaction.
    public func rollback(to savepoint: Int) throws(StorageError) { try writer.rollback(to: savepoint) }

    /// Releases a savepoint of the other transaction.
    public func release(_ savepoint: Int) throws(StorageError) { try writer.release(savepoint) }

    /// Commits the other transaction.
    public func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? { try writer.commit(record) }
}
