internal import PolystoreStorage

extension Transaction {
    /// Runs a part of the transaction that can fail by itself: what it throws undoes this part alone.
    ///
    /// Parts nest. Objects that were there before have their former values again after a failure; those that the part made are deleted.
    /// - Returns: What the closure returned.
    /// - Throws: What the closure threw, after this part was undone. Catch it to go on with the rest.
    public func nested<R>(_ body: () throws -> R) throws -> R {
        guard let tracker = context.tracker, let sessions = context.sessions else {
            throw StorageError(.storeClosed, "the transaction has ended; start another with perform")
        }
        try context.flush()
        let before = tracker.written, ends = keyBlocks.mapValues(\.end)
        try sessions.savepoint()
        do {
            let result = try body()
            try context.throwFailure()
            try context.flush()
            try sessions.releaseSavepoint()
            return result
        } catch {
            // Whatever could not be undone leaves the transaction as a whole to be rolled back.
            do throws(StorageError) {
                try sessions.rollbackToSavepoint()
                tracker.rewind(to: before)
                // Keys that were reserved in this part are free again: the store gives them anew.
                for (place, block) in keyBlocks where ends[place] != block.end { block.next = block.end }
                context.forgetFailure()
                try context.refreshAll()
            } catch {
                context.fail(error)
            }
            throw error
        }
    }
}
