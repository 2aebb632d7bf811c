/// A write transaction that runs statements in SQL (capability `rawSQL`).
public protocol SQLWriter: StorageWriter {
    /// Runs a statement in SQL that changes rows.
    ///
    /// *Behavior*: versions and history are left as they are, unless the statement itself changes them. One that is wrong, several at once,
    /// queries and statements that control transactions, settings or tables are `invalidPredicate`; a violated constraint is
    /// `uniqueConstraintViolated`. After an error nothing of the statement is there, and the session goes on.
    /// - Returns: The number of rows that the statement changed.
    func execute(_ sql: RawSQL) throws(StorageError) -> Int
}

extension WriteSession {
    /// Runs a statement in SQL that changes rows; after an error nothing of the statement is there, and the session goes on.
    ///
    /// - Returns: The number of rows that the statement changed.
    /// - Throws: `unsupported` without the capability `rawSQL`; `invalidPredicate`; `uniqueConstraintViolated`.
    public func execute(_ sql: RawSQL) throws(StorageError) -> Int {
        try checkActive()
        guard store.capabilities.contains(.rawSQL), let writer = sqlWriters.find(in: writer) else { throw .takesNoSQL }
        return try writer.execute(sql)
    }
}
