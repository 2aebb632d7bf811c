#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLiteWriter {
    func change(_ entity: EntityIndex, _ text: SQLText, _ body: (Int64, Int64?) -> Void) throws(StorageError) {
        let isHierarchy = core.tables.schema[entity].isHierarchy, statement = try connection.statement(text)
        defer { statement.reset() }
        while true {
            let code = statement.advance()
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else { throw SQLiteConstraint.error(code, connection, core.tables, entity) }
            body(sqlite3_column_int64(statement.handle, 0), isHierarchy ? sqlite3_column_int64(statement.handle, 1) : nil)
        }
    }
}
#endif
