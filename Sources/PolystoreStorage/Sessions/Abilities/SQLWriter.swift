/// A write transaction that executes SQL statements (capability `rawSQL`).
public protocol SQLWriter: StorageWriter {
    /// Executes an SQL statement that changes rows.
    ///
    /// *Behavior*: versions and history do not change, unless the statement itself changes them. An invalid statement, several statements
    /// at once, queries, and statements that control transactions, settings, or tables are `invalidPredicate`. A violated constraint is
    /// `uniqueConstraintViolated`. After an error no effect of the statement remains, and the session remains usable.
    /// - Returns: The number of rows that the statement changed.
    func execute(_ sql: RawSQL) throws(StorageError) -> Int
}

extension WriteSession {
    /// Executes an SQL statement that changes rows. After an error no effect of the statement remains, and the session remains usable.
    ///
    /// - Returns: The number of rows that the statement changed.
    /// - Throws: `unsupported` without the capability `rawSQL`; `invalidPredicate`; `uniqueConstraintViolated`.
    public func execute(_ sql: RawSQL) throws(StorageError) -> Int {
        try checkActive()
        guard store.capabilities.contains(.rawSQL), let writer = sqlWriters.find(in: writer) else { throw .takesNoSQL }
        return try writer.execute(sql)
    }
}
