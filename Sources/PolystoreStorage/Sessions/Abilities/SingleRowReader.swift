/// A session with a fast path to a single row, which is used when a relationship is loaded lazily.
public protocol SingleRowReader: StorageReader {
    /// Appends the row with a primary key of an entity's hierarchy, if it exists.
    ///
    /// *Behavior*: the bytes of the row are valid until the next call of the session.
    func row(_ entity: EntityIndex, key: Int64, into batch: RowBatch) throws(StorageError)
}

extension ReadSession {
    /// Appends the row with a primary key of an entity's hierarchy, if it exists. Without the ability, calls `rows`.
    ///
    /// The bytes of the row are valid until the next call of the session.
    public final func row(_ entity: EntityIndex, key: Int64, into batch: RowBatch) throws(StorageError) {
        try checkActive()
        guard let single = singleRows.find(in: reader) else { return try reader.rows(entity, keys: [key], into: batch) }
        try single.row(entity, key: key, into: batch)
    }
}
