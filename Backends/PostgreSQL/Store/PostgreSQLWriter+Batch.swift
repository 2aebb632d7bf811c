#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

extension PostgreSQLWriter {
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
        let isHierarchy = core.tables.schema[entity].isHierarchy, result = try connection.query(text)
        var keys: [EntityIndex: [Int64]] = [:]
        for row in 0..<result.count {
            guard let key = result.integer(row, 0) else { continue }
            let number = isHierarchy ? result.integer(row, 1).flatMap(core.tables.entity) ?? entity : entity
            keys[number, default: []].append(key)
        }
        return keys.mapValues { $0.sorted() }
    }
}
#endif
