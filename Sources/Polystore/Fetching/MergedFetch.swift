internal import PolystoreStorage

/// A fetch of an entity that several stores hold: one sorted answer from all of them.
struct MergedFetch {
    private let plan: FetchPlan
    private let stores: [Int]

    init(_ plan: FetchPlan, _ stores: [Int]) {
        self.plan = plan
        self.stores = stores
    }

    private struct Item {
        let store: Int
        let row: Int
    }

    func run(_ context: ObjectContext) throws(StorageError) -> [ManagedObject] {
        var part = plan
        part.limit = plan.limit.map { $0 + plan.offset }
        part.offset = 0
        var rows: [Int: RowBatch] = [:], related: [Int: StoredRows] = [:], items: [Item] = []
        for store in stores {
            try context.withReader(store) { reader throws(StorageError) in
                let kept = RowBatch(capacity: 1024), batch = RowBatch()
                let cursor = try reader.exactCursor(for: part, schema: context.model.schema)
                while try cursor.next(into: batch) {
                    for index in 0..<batch.count {
                        items.append(Item(store: store, row: kept.count))
                        let row = batch.row(index)
                        kept.append(copying: row, slots: context.model.schema[row.entity].slots.count)
                    }
                }
                rows[store] = kept
                related[store] = StoredRows(reader, context.model.schema)
            }
        }
        return try sorted(items, rows, related, context)
    }

    private func sorted(
        _ items: [Item], _ rows: [Int: RowBatch], _ related: [Int: StoredRows], _ context: ObjectContext
    ) throws(StorageError) -> [ManagedObject] {
        let order = RowOrder(plan.sort, schema: context.model.schema)
        let sorted = items.sorted { a, b in
            guard let x = rows[a.store], let y = rows[b.store], let relatedRows = related[a.store] else { return false }
            let result = order.compare(x.row(a.row), y.row(b.row), relatedRows)
            return result != 0 ? result < 0 : (a.store, a.row) < (b.store, b.row)
        }
        let wanted = sorted.dropFirst(plan.offset).prefix(plan.limit ?? .max)
        return Array(
            wanted.compactMap { item in
                rows[item.store].map { context.object(of: $0.row(item.row), Int16(truncatingIfNeeded: item.store)) }
            })
    }
}
