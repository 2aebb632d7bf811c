public import PolystoreStorage

extension WriteTransaction {
    /// Executes an SQL statement that changes rows, on a store that supports SQL.
    ///
    /// ```swift
    /// try transaction.execute("UPDATE \(table: Person.self) SET \(column: \Person.age) = \(column: \Person.age) + 1")
    /// ```
    /// The statement sees the previous changes of the transaction. Afterwards the transaction's objects have the new values, and objects
    /// whose rows were removed are deleted. After the commit, contexts of the stack read all objects of the store again.
    ///
    /// The statement bypasses the layer that maintains the object graph. The history does not contain its changes, so other processes and
    /// observers by token do not receive them. Versions do not change unless the statement writes `"_version" = "_version" + 1`; without
    /// that, transactions that compare versions can overwrite its changes. Rules of the model and delete rules are not checked, and the
    /// statement is responsible for inverses and keys. Where possible, use `updateAll`, `insertAll`, `upsertAll` and `deleteAll`.
    /// - Parameters:
    ///   - sql: One statement: `INSERT`, `UPDATE`, `DELETE` or `MERGE`. An error undoes the whole statement.
    ///   - configuration: The configuration of the store; nil for the only store that holds the entities named in the statement.
    /// - Returns: The number of rows that the statement changed.
    /// - Throws: `unsupported` on a store without SQL, and at commit if another store commits for this one; `invalidPredicate` for any
    ///   other statement; `uniqueConstraintViolated`.
    @discardableResult
    public func execute(_ sql: RawSQL, in configuration: String? = nil) throws(StorageError) -> Int {
        try reporting { () throws(StorageError) in
            let context = try _fetchContext
            guard let sessions = context.sessions, let tracker = context.tracker else { throw SessionPool.ended }
            let store = try context.store(for: sql, configuration)
            let count = try sessions.execute(sql, in: store)
            tracker.written.rows.isWritten = true
            tracker.written.rows.counts.updated += count
            try context.refreshKnown(in: store)
            return count
        }
    }
}
