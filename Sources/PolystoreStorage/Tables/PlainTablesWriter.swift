/// A transaction that fills new tables. Nothing remains of it, unless it is committed.
package protocol PlainTablesWriter: AnyObject {
    /// Inserts rows of one entity.
    ///
    /// - Parameter table: The position in `PlainTables.tables`.
    func load(_ table: Int, _ batch: RowBatch, _ rows: Range<Int>) throws(StorageError)

    /// Inserts pairs of a relationship.
    ///
    /// - Parameter table: The position in `PlainTables.pairs`.
    func load(pairs table: Int, _ pairs: [LinkPair]) throws(StorageError)

    /// Adds the constraints and indexes that follow the rows, and checks the references.
    ///
    /// - Parameter nextKeys: The next primary key of each table.
    /// - Throws: `validationFailed` for rows that violate a constraint.
    func finish(nextKeys: [Int64]) throws(StorageError)

    /// Returns the tables as a store that opens the database of another program reads them.
    ///
    /// - Throws: `corrupted` if a table or a column is not read back.
    func copy() throws(StorageError) -> PlainCopy

    /// Commits the transaction and ends it.
    func commit() throws(StorageError)

    /// Ends the transaction. A second call does nothing.
    func end()
}
