/// A session with a short way to one row: what a relationship that is loaded late asks for.
public protocol SingleRowReader: StorageReader {
    /// Appends the row with a key of an entity's hierarchy, if there is one.
    ///
    /// *Behavior*: bytes of the row are valid until the next call of the session.
    func row(_ entity: EntityIndex, key: Int64, into batch: RowBatch) throws(StorageError)
}

extension ReadSession {
    /// Appends the row with a key of an entity's hierarchy, if there is one; as `rows` does without the ability.
    ///
    /// Bytes of the row are valid until the next call of the session.
    public final func row(_ entity: EntityIndex, key: Int64, into batch: RowBatch) throws(StorageError) {
        try checkActive()
        guard let single = singleRows.find(in: reader) else { return try reader.rows(entity, keys: [key], into: batch) }
        try single.row(entity, key: key, into: batch)
    }
}
