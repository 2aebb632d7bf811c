/// A cursor that returns the rows of a plan in batches.
public protocol RowCursor: AnyObject {
    /// Clears the batch and fills it with the next rows. Returns false when there are no more rows.
    ///
    /// *Behavior*: bytes may reside in the engine's memory. They are valid until the next call, and only while the cursor is retained and
    /// its session is open.
    func next(into batch: RowBatch) throws(StorageError) -> Bool
}
