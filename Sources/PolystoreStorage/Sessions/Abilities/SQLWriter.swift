/// A write transaction that executes SQL statements (capability `rawSQL`).
public protocol SQLWriter: StorageWriter {
    /// Executes an SQL statement that changes rows.
    ///
    /// *Behavior*: versions and history do not change, unless the statement itself changes them. An invalid statement, several statements
    /// at once, queries, and statements that control transactions, settings, or tables are `invalidPredicate`. A violated constraint is
    /// `uniqueConstraintViolated`. After an error no effect of the statement remains, and the session remains usable.
    /// - Returns: The number of rows that the statement changed.
    func execute(_ sql: RawSQL) throws(StorageError) -> Int

    /// Executes an SQL statement that changes rows and has a RETURNING clause.
    ///
    /// *Behavior*: as `execute`. A statement without a RETURNING clause is `invalidPredicate`, and changes nothing.
    /// - Returns: The rows of the clause.
    func executeReturning(_ sql: RawSQL) throws(StorageError) -> RawRows
}

extension SQLWriter {
    /// Throws `unsupported`.
    public func executeReturning(_ sql: RawSQL) throws(StorageError) -> RawRows {
        throw StorageError(.unsupported, "the store has no statements that change rows and return them")
    }
}

extension StorageError {
    /// The error of a statement that should return rows.
    package static var returnsNoRows: StorageError {
        StorageError(.invalidPredicate, "the statement has no RETURNING clause; add one, or use execute")
    }
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

    /// Executes an SQL statement that changes rows and has a RETURNING clause. After an error no effect of the statement remains, and the
    /// session remains usable.
    ///
    /// - Returns: The rows of the clause.
    /// - Throws: As `execute`; `invalidPredicate` also for a statement without a RETURNING clause.
    public func executeReturning(_ sql: RawSQL) throws(StorageError) -> RawRows {
        try checkActive()
        guard store.capabilities.contains(.rawSQL), let writer = sqlWriters.find(in: writer) else { throw .takesNoSQL }
        return try writer.executeReturning(sql)
    }
}
