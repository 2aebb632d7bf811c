internal import PolystoreStorage

/// A fetch of an entity that several stores hold: one sorted answer from all of them.
struct MergedFetch {
    private let plan: FetchPlan
    private let stores: [Int]

    init(_ plan: FetchPlan, _ stores: [Int]) {
        self.plan = plan
        self.stores = stores
    }

    func run(_ context: ObjectContext) throws(StorageError) -> [ManagedObject] {
        var part = plan
        part.limit = plan.limit.map { $0 + plan.offset }
        part.offset = 0
        let schema = context.model.schema
        let order = RowOrder(plan.sort, schema: schema)
        var rows: [Int: RowBatch] = [:], items: [(place: MergedPlace, row: Int)] = []
        for store in stores {
            try context.withReader(store) { reader throws(StorageError) in
                let kept = RowBatch(capacity: 1024), batch = RowBatch(), related = StoredRows(reader, schema)
                let cursor = try reader.exactCursor(for: part, schema: schema)
                while try cursor.next(into: batch) {
                    for index in 0..<batch.count {
                        let row = batch.row(index)
                        items.append((MergedPlace(row, store, order.values(row, related, plan.sort)), kept.count))
                        kept.append(copying: row, slots: schema[row.entity].slots.count)
                    }
                    try related.throwFailure()
                    do throws(QueryError) { try order.throwFailure() } catch { throw StorageError(error) }
                }
                rows[store] = kept
            }
        }
        items.sort { $0.place.precedes($1.place, plan.sort) }
        return items.dropFirst(plan.offset).prefix(plan.limit ?? .max).compactMap { item in
            rows[item.place.store].map { context.object(of: $0.row(item.row), Int16(truncatingIfNeeded: item.place.store)) }
        }
    }
}
