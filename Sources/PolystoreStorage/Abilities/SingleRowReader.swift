/// A session with a short way to one row: what a relationship that is loaded late asks for.
public protocol SingleRowReader: StorageReader {
    /// Appends the row with a key of an entity's hierarchy, if there is one.
    ///
    /// *Behavior*: bytes of the row are valid until the next call of the session.
    func row(_ entity: EntityIndex, key: Int64, into batch: RowBatch) throws(StorageError)
}

extension StorageReader {
    /// Appends the row with a key, as `rows` does without the ability.
    public func row(_ entity: EntityIndex, key: Int64, into batch: RowBatch) throws(StorageError) {
        guard let reader = ability((any SingleRowReader).self) else { return try rows(entity, keys: [key], into: batch) }
        try reader.row(entity, key: key, into: batch)
    }
}
