internal import PolystoreStorage

extension Transaction {
    /// Runs a part of the transaction that can fail by itself: what it throws undoes this part alone.
    ///
    /// Parts nest. Objects that were there before have their former values again after a failure; those that the part made are deleted.
    /// An error after which the engine cannot go on, such as a conflict with another transaction or a lost connection, is one of the whole
    /// transaction, also where it is caught.
    /// - Returns: What the closure returned.
    /// - Throws: What the closure threw, after this part was undone. Catch it to go on with the rest.
    public func nested<R>(_ body: () throws -> R) throws -> R {
        let part = try TransactionPart(self)
        do {
            let result = try body()
            try part.keep()
            return result
        } catch {
            part.undo()
            throw error
        }
    }

    /// Runs a verb that writes in several steps, so that an error leaves nothing of it.
    func wholly<R>(_ body: () throws(StorageError) -> R) throws(StorageError) -> R {
        let part = try TransactionPart(self)
        do throws(StorageError) {
            let result = try body()
            try part.keep()
            return result
        } catch {
            part.undo()
            throw error
        }
    }
}

/// A part of a transaction that is kept or undone as a whole.
struct TransactionPart {
    private let transaction: Transaction
    private let tracker: ChangeTracker
    private let sessions: SessionPool
    private let before: ChangeTracker.Written

    /// Begins a part with everything before it in the stores.
    init(_ transaction: Transaction) throws(StorageError) {
        guard let tracker = transaction.context.tracker, let sessions = transaction.context.sessions else { throw SessionPool.ended }
        self.transaction = transaction
        self.tracker = tracker
        self.sessions = sessions
        try transaction.context.throwFailure()
        try transaction.context.flush()
        before = tracker.written
        try sessions.savepoint()
    }

    /// Keeps what was done.
    func keep() throws(StorageError) {
        try transaction.context.throwFailure()
        try transaction.context.flush()
        try sessions.releaseSavepoint()
    }

    /// Undoes what was done, in the stores and in the objects. What cannot be undone dooms the transaction.
    func undo() {
        let context = transaction.context
        do throws(StorageError) {
            try sessions.rollbackToSavepoint()
            tracker.rewind(to: before)
            transaction.forgetReservedKeys()
            context.forgetFailure()
            try context.refreshAll()
            context.keepKnown(before.deleted + before.gone)
        } catch {
            sessions.doom(error)
        }
    }
}
