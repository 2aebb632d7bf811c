internal import PolystoreStorage

/// A part of a transaction that is kept or undone as a whole.
struct TransactionPart {
    private let transaction: WriteTransaction
    private let tracker: ChangeTracker
    private let sessions: SessionPool
    private let before: ChangeTracker.Mark

    /// Begins a part after writing all earlier changes to the stores.
    init(_ transaction: WriteTransaction) throws(StorageError) {
        guard let tracker = transaction.context.tracker, let sessions = transaction.context.sessions else { throw SessionPool.ended }
        self.transaction = transaction
        self.tracker = tracker
        self.sessions = sessions
        try transaction.context.throwFailure()
        try transaction.context.flush()
        before = tracker.mark()
        try sessions.savepoint()
    }

    /// Keeps the changes of the part.
    func keep() throws(StorageError) {
        try transaction.context.throwFailure()
        try transaction.context.flush()
        try sessions.releaseSavepoint()
    }

    /// Undoes the changes of the part, in the stores and in the objects. If that fails, the transaction is doomed.
    func undo() {
        let context = transaction.context
        do throws(StorageError) {
            try sessions.rollbackToSavepoint()
            tracker.rewind(to: before)
            let deleted = tracker.written.deleted + tracker.written.gone
            transaction.forgetReservedKeys()
            context.forgetFailure()
            try context.refreshAll()
            context.keepKnown(deleted)
        } catch {
            sessions.doom(error)
        }
    }
}
