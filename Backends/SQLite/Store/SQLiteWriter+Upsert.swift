#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLiteWriter {
    /// `ON CONFLICT DO UPDATE`, one row to a statement: `RETURNING` of several promises no order (https://sqlite.org/lang_returning.html).
    func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] {
        try checkOpen()
        try bulk?.makeIndexes()
        let description = core.tables.schema[upsert.entity]
        let statement = try connection.statement(core.tables.upsert(upsert, rows: core.tables.upsertValues(upsert.entity)))
        let update = upsert.update
        var result: [UpsertedRow] = []
        result.reserveCapacity(upsert.rows.count)
        try upsert.rows.forEachBatch(scratchRows) { batch throws(StorageError) in
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
                let number = sqlite3_column_int64(statement.handle, 1)
                let entity = description.isHierarchy ? core.tables.entity(number) ?? upsert.entity : upsert.entity
                result.append(UpsertedRow(key: key, entity: entity, isInserted: key == row.key))
                // The statement has changed its row when it gives the first one.
                if key == row.key { recorder.insert(entity, key) } else { recorder.update(entity, key, update) }
            }
        }
        return result
    }
}
#endif
