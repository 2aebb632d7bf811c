public import Foundation

/// A write transaction that does what another one does, except for what its type says.
public protocol ForwardingWriter: ForwardingReader, StorageWriter {
    /// The other transaction.
    var writer: any StorageWriter { get }
}

extension ForwardingWriter {
    /// The other transaction.
    public var reader: any StorageReader { writer }

    /// Keys of the other transaction.
    public func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        try writer.reserveKeys(entity, count: count)
    }

    /// Writes a change set to the other transaction.
    public func apply(_ changes: ChangeSet) throws(StorageError) { try writer.apply(changes) }

    /// Adds or changes rows in the other transaction.
    public func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] { try writer.upsert(upsert) }

    /// Loads rows into the other transaction.
    public func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) { try writer.load(root, batch) }

    /// Loads pairs into the other transaction.
    public func load(link: Int, _ pairs: [Link]) throws(StorageError) { try writer.load(link: link, pairs) }

    /// Keeps bytes in the other transaction.
    public func setNote(_ name: String, _ bytes: Data?) throws(StorageError) { try writer.setNote(name, bytes) }

    /// Sets a savepoint of the other transaction.
    public func savepoint() throws(StorageError) -> Int { try writer.savepoint() }

    /// Returns to a savepoint of the other transaction.
    public func rollback(to savepoint: Int) throws(StorageError) { try writer.rollback(to: savepoint) }

    /// Releases a savepoint of the other transaction.
    public func release(_ savepoint: Int) throws(StorageError) { try writer.release(savepoint) }

    /// Commits the other transaction.
    public func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? { try writer.commit(record) }
}
