/// A write transaction that changes all rows of a plan in its engine.
public protocol BatchWriter: StorageWriter {
    /// Changes all rows of a plan in the engine, in one statement; each version rises by one.
    ///
    /// *Behavior*: nil where the engine would compute something otherwise than the contract says; nothing is changed then.
    /// - Returns: The keys of the rows by entity.
    func updateAll(_ update: BatchUpdate) throws(StorageError) -> [EntityIndex: [Int64]]?

    /// Deletes all rows of a plan in the engine, in one statement; no other row refers to them.
    ///
    /// *Behavior*: nil where the engine cannot; nothing is deleted then.
    /// - Returns: The keys of the rows by entity.
    func deleteAll(_ plan: FetchPlan) throws(StorageError) -> [EntityIndex: [Int64]]?
}

extension WriteSession {
    /// Changes all rows of a plan in the engine; nil where the layer above has to read and write them.
    ///
    /// - Returns: The keys of the rows by entity.
    public func updateAll(_ update: BatchUpdate) throws(StorageError) -> [EntityIndex: [Int64]]? {
        try change { () throws(StorageError) in try batches.find(in: writer)?.updateAll(bound(update)) }
    }

    /// Deletes all rows of a plan in the engine; nil where the layer above has to read and delete them.
    ///
    /// - Returns: The keys of the rows by entity.
    public func deleteAll(_ plan: FetchPlan) throws(StorageError) -> [EntityIndex: [Int64]]? {
        try change { () throws(StorageError) in try batches.find(in: writer)?.deleteAll(bound(plan)) }
    }

    private func bound(_ update: BatchUpdate) -> BatchUpdate {
        BatchUpdate(
            fetch: bound(update.fetch),
            assignments: update.assignments.map { ($0.slot, $0.value.bound(to: store.storeID, in: schema)) })
    }
}
