#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLiteWriter {
    /// Inserts or updates rows with `ON CONFLICT DO UPDATE`, one row for each statement, because `RETURNING` guarantees no order of several
    /// rows (https://sqlite.org/lang_returning.html).
    func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] {
        try checkOpen()
        try bulk?.makeIndexes()
        let description = core.tables.schema[upsert.entity]
        let statement = try connection.statement(core.tables.upsert(upsert, rows: core.tables.upsertValues(upsert.entity)))
        var result: [UpsertedRow] = []
        result.reserveCapacity(upsert.rows.count)
        try upsert.rows.forEachBatch(rowBatch) { batch throws(StorageError) in
            for index in 0..<batch.count {
                let row = batch.row(index)
                statement.bind(.int(row.key), at: 1)
                statement.bind(.int(1), at: 2)
                for slot in description.slots.indices { statement.bind(row[slot], at: Int32(truncatingIfNeeded: slot &+ 3)) }
                let code = statement.advance()
                defer { statement.reset() }
                if code == SQLITE_DONE { throw .upsertOfAnotherEntity(upsert, core.tables.schema) }
                if code != SQLITE_ROW { throw SQLiteConstraint.error(code, connection, core.tables, upsert.entity) }
                let key = sqlite3_column_int64(statement.handle, 0)
                // When the statement returns its first row, it has already changed the row.
                let number = description.isHierarchy ? sqlite3_column_int64(statement.handle, 1) : nil
                result.append(upserted(upsert, given: row.key, key: key, number: number))
            }
        }
        return result
    }
}
#endif
