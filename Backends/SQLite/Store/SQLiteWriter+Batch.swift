#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLiteWriter {
    /// SQLITE_CONSTRAINT_DATATYPE: a whole number that overflowed has become a real one, which a strict table refuses in an integer column.
    static let wrongType: Int32 = 3091

    func updateAll(_ update: BatchUpdate) throws(StorageError) -> [EntityIndex: [Int64]]? {
        try checkOpen()
        guard let text = core.compiler.update(update) else { return nil }
        let mask = update.mask
        let keys = try run(text, update.fetch.entity)
        for (entity, keys) in keys.sorted(by: { $0.key < $1.key }) { for key in keys { recorder.update(entity, key, mask) } }
        return keys
    }

    func deleteAll(_ plan: FetchPlan) throws(StorageError) -> [EntityIndex: [Int64]]? {
        try checkOpen()
        guard let text = core.compiler.delete(plan) else { return nil }
        if recorder.preserves(plan.entity) {
            let cursor = try cursor(for: plan), batch = RowBatch()
            while try cursor.next(into: batch) { for index in 0..<batch.count { recorder.remember(batch.row(index)) } }
        }
        let keys = try run(text, plan.entity)
        for (entity, keys) in keys.sorted(by: { $0.key < $1.key }) { for key in keys { recorder.delete(entity, key) } }
        return keys
    }

    private func run(_ text: SQLText, _ entity: EntityIndex) throws(StorageError) -> [EntityIndex: [Int64]] {
        let isHierarchy = core.tables.schema[entity].isHierarchy
        let statement = try connection.statement(text)
        defer { statement.reset() }
        var keys: [EntityIndex: [Int64]] = [:]
        while true {
            let code = statement.advance()
            if code == SQLITE_DONE { break }
            if code == Self.wrongType {
                throw StorageError(
                    .arithmeticOverflow, "a new value leaves the range of its type",
                    details: .init(entity: core.tables.schema.entities[entity].name))
            }
            guard code == SQLITE_ROW else { throw SQLiteConstraint.error(code, connection, core.tables, entity) }
            let number = isHierarchy ? core.tables.entity(sqlite3_column_int64(statement.handle, 1)) ?? entity : entity
            keys[number, default: []].append(sqlite3_column_int64(statement.handle, 0))
        }
        return keys.mapValues { $0.sorted() }
    }
}
#endif
