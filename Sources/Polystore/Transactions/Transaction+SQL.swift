public import PolystoreStorage

extension Transaction {
    /// Runs a statement in SQL that changes rows, on a store that takes it.
    ///
    /// ```swift
    /// try transaction.execute("UPDATE \(table: Person.self) SET \(column: \Person.age) = \(column: \Person.age) + 1")
    /// ```
    /// What the transaction changed before is there for the statement, and its objects have the new values afterwards; those whose rows are
    /// gone are deleted. When it commits, contexts of the stack read everything of the store again.
    ///
    /// The statement goes past the layer that keeps the graph whole. The history does not have its changes, so other processes and
    /// observers by token do not learn of them. Versions stay, unless it writes `"_version" = "_version" + 1`: without that, work that
    /// compares versions can overwrite what it did. Rules of the model and delete rules are not looked at, inverses and keys are its own
    /// business. Where it can, use `updateAll`, `insertAll`, `upsertAll` and `deleteAll`.
    /// - Parameters:
    ///   - sql: One statement: `INSERT`, `UPDATE`, `DELETE` or `MERGE`. After an error nothing of it is there.
    ///   - configuration: The configuration of the store; nil for the only one that holds the entities that the statement names.
    /// - Returns: The number of rows that the statement changed.
    /// - Throws: `unsupported` on a store without SQL, and at commit where another store commits for this one; `invalidPredicate` for any other
    ///   statement, `uniqueConstraintViolated`.
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
