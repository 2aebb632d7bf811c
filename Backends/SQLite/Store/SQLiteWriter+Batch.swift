#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLiteWriter {
    /// SQLITE_CONSTRAINT_DATATYPE: an overflowed integer has become a real number, which a strict table refuses in an integer column.
    static let wrongType: Int32 = 3091

    func change(_ entity: EntityIndex, _ text: SQLText, _ body: (Int64, Int64?) -> Void) throws(StorageError) {
        let isHierarchy = core.tables.schema[entity].isHierarchy, statement = try connection.statement(text)
        defer { statement.reset() }
        while true {
            let code = statement.advance()
            if code == SQLITE_DONE { return }
            if code == Self.wrongType {
                let name = core.tables.schema.entities[entity].name
                throw StorageError(
                    .arithmeticOverflow, "a new value of \(name) is outside the range of its type", details: .init(entity: name))
            }
            guard code == SQLITE_ROW else { throw SQLiteConstraint.error(code, connection, core.tables, entity) }
            body(sqlite3_column_int64(statement.handle, 0), isHierarchy ? sqlite3_column_int64(statement.handle, 1) : nil)
        }
    }
}
#endif
