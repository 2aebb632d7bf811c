internal import PolystoreStorage

/// A query for values of an entity that several stores hold: one answer from the rows of all of them.
///
/// An average or a count of different values cannot be made from those of parts, so the rows are grouped here; a store gives only those
/// that satisfy the condition.
struct MergedQuery {
    private let plan: QueryPlan
    private let stores: [Int]

    init(_ plan: QueryPlan, _ stores: [Int]) {
        self.plan = plan
        self.stores = stores
    }

    func run(_ context: ObjectContext) throws(StorageError) -> [[Value]] {
        var part = plan
        part.fetch.limit = plan.fetch.limit.map { $0 + plan.fetch.offset }
        part.fetch.offset = 0
        let answer = QueryAnswer(part, schema: context.model.schema)
        var places: [MergedPlace] = []
        try context.inOneSnapshot(of: stores) { () throws(StorageError) in
            for store in stores { try add(part, store, context, to: answer, &places) }
        }
        let rows: [[Value]]
        do throws(QueryError) { rows = try answer.result() } catch { throw StorageError(error) }
        guard case .rows = plan.kind else { return rows }
        let sorted = rows.indices.sorted { places[$0].precedes(places[$1], plan.fetch.sort) }
        return sorted.dropFirst(plan.fetch.offset).prefix(plan.fetch.limit ?? .max).map { rows[$0] }
    }

    private func add(
        _ part: QueryPlan, _ store: Int, _ context: ObjectContext, to answer: QueryAnswer, _ places: inout [MergedPlace]
    ) throws(StorageError) {
        let schema = context.model.schema, order = RowOrder(part.fetch.sort, schema: schema)
        let isSorted = if case .rows = plan.kind { true } else { false }
        var found: [MergedPlace] = []
        try context.withReader(store) { reader throws(StorageError) in
            let batch = RowBatch(), related = StoredRows(reader)
            let rows = try reader.cursor(for: part.fetch)
            let cursor: any RowCursor = part.localSlots == nil ? BlockRows(rows, schema) : rows
            while try cursor.next(into: batch) {
                related.begin(batch)
                do throws(QueryError) {
                    for index in 0..<batch.count where isSorted {
                        found.append(MergedPlace(batch.row(index), store, order.values(batch.row(index), related)))
                        try order.throwFailure()
                    }
                    try answer.add(batch, related)
                } catch { throw StorageError(error) }
                try related.throwFailure()
            }
        }
        places += found
    }
}

/// Where a row of several stores stands in their common order.
struct MergedPlace {
    let store: Int
    private let key: Int64
    /// The values of the sort keys: read while the session of the store is open.
    private let values: [Value]

    init(_ row: borrowing RowView, _ store: Int, _ values: [Value]) {
        self.store = store
        key = row.key
        self.values = values
    }

    /// Whether it comes first; by key and store where the sort keys agree.
    func precedes(_ other: MergedPlace, _ sort: [CheckedSort]) -> Bool {
        let order = RowOrder.compare(values, other.values, sort)
        return order == 0 ? (key, store) < (other.key, other.store) : order < 0
    }
}
