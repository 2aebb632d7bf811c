internal import PolystoreStorage

extension Transaction {
    /// Runs a part of the transaction that can fail individually: if the closure throws, only the changes of this part are undone.
    ///
    /// Parts can be nested. After a failure, objects that existed before have their former values, and objects that the part created are
    /// deleted. An error after which the engine cannot continue, such as a conflict with another transaction or a lost connection, ends the
    /// whole transaction, even if it is caught.
    /// - Returns: The result of the closure.
    /// - Throws: Any error of the closure, after this part was undone. Catch the error to continue with the rest of the transaction.
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

    /// Runs an operation that writes in several steps, so that an error undoes all of them.
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

    /// Begins a part after writing all earlier changes to the stores.
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
            transaction.forgetReservedKeys()
            context.forgetFailure()
            try context.refreshAll()
            context.keepKnown(before.deleted + before.gone)
        } catch {
            sessions.doom(error)
        }
    }
}
