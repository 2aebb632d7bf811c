/// A write transaction that changes all rows of a plan inside its engine.
package protocol BatchWriter: StorageWriter {
    /// Updates all rows of a plan inside the engine, in one statement. Each version is incremented by one.
    ///
    /// *Behavior*: returns nil, and changes nothing, if the engine's result would differ from the contract.
    /// - Returns: The primary keys of the rows by entity.
    func updateAll(_ update: BatchUpdate) throws(StorageError) -> [EntityIndex: [Int64]]?

    /// Deletes all rows of a plan inside the engine, in one statement. No other row references them.
    ///
    /// *Behavior*: returns nil, and deletes nothing, if the engine cannot do it.
    /// - Returns: The primary keys of the rows by entity.
    func deleteAll(_ plan: FetchPlan) throws(StorageError) -> [EntityIndex: [Int64]]?
}

extension WriteSession {
    /// Updates all rows of a plan inside the engine. Returns nil if the layer above has to read and write them.
    ///
    /// - Returns: The primary keys of the rows by entity.
    public func updateAll(_ update: BatchUpdate) throws(StorageError) -> [EntityIndex: [Int64]]? {
        try change { () throws(StorageError) in try batches.find(in: writer)?.updateAll(bound(update)) }
    }

    /// Deletes all rows of a plan inside the engine. Returns nil if the layer above has to read and delete them.
    ///
    /// - Returns: The primary keys of the rows by entity.
    public func deleteAll(_ plan: FetchPlan) throws(StorageError) -> [EntityIndex: [Int64]]? {
        try change { () throws(StorageError) in try batches.find(in: writer)?.deleteAll(bound(plan)) }
    }

    private func bound(_ update: BatchUpdate) -> BatchUpdate {
        BatchUpdate(
            fetch: bound(update.fetch),
            assignments: update.assignments.map { ($0.slot, $0.value.bound(to: store.storeID, in: schema)) })
    }
}
