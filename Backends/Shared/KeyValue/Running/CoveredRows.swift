internal import PolystoreStorage

/// Rows built from the entries of an index that contains all slots of a query, so that no record is read. Their other cells are nil. They
/// come in index order, which does not matter for groups.
final class CoveredRows: RowCursor {
    private let filter: RowFilter
    private let evaluator: PredicateEvaluator?
    private let entity: EntityIndex
    private let slotCount: Int
    private let entry: IndexEntry
    private let cursor: any OrderedCursor
    private var intervals: ArraySlice<KeyInterval>
    private var high: [UInt8]?
    private var isPending = false

    /// Creates the cursor, or nil when no index contains all slots of the query.
    init?(_ plan: QueryPlan, _ reader: KeyValueReader) throws(StorageError) {
        guard let use = Self.use(plan, reader.core.layout) else { return nil }
        let fetch = plan.fetch
        filter = RowFilter(reader, fetch)
        evaluator = use.isExact ? nil : PredicateEvaluator(fetch.predicate, schema: reader.core.schema)
        entity = use.index.entity
        slotCount = reader.core.layout.kinds[use.index.entity].count
        entry = IndexEntry(use.index, reader.core)
        cursor = try reader.engine.cursor(use.index.map)
        intervals = use.intervals[...]
    }

    /// Returns the index that contains all slots of a query; of several, the one that the query's condition restricts most.
    static func use(_ plan: QueryPlan, _ layout: KeyValueLayout) -> IndexUse? {
        guard case .groups = plan.kind, let slots = plan.localSlots else { return nil }
        let known = layout.indexes[plan.fetch.entity].filter { index in
            // An entry does not contain its entity, so the query must cover all entities of the index.
            layout.schema[index.entity].family.allSatisfy(plan.fetch.entities.contains) && slots.isSubset(of: index.slots)
        }
        // An index that the condition does not restrict has as many entries as there are rows, but its entries are short.
        return known.map { IndexUse($0, plan.fetch.predicate) }.max { ($0.used, -$0.index.slots.count) < ($1.used, -$1.index.slots.count) }
    }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        try filter.reader.checkOpen()
        batch.clear()
        while !batch.isFull {
            if !isPending {
                guard let next = intervals.popFirst() else { break }
                high = next.high
                isPending = try cursor.seek(next.low)
                continue
            }
            let key = cursor.key
            if let high, high.withUnsafeBytes({ compareBytes(key, $0) }) >= 0 {
                isPending = false
                continue
            }
            try filter.reader.work.step()
            try take(key, batch)
            isPending = try cursor.next()
        }
        return batch.count > 0
    }

    private func take(_ key: UnsafeRawBufferPointer, _ batch: RowBatch) throws(StorageError) {
        let row = KeyBytes.lastKey(key)
        if entry.isCut(key) {
            _ = try filter.take(row, batch)
            return
        }
        let cells = batch.appendRow(key: row, version: 0, entity: entity, slots: slotCount)
        cells.update(repeating: .null, count: slotCount)
        guard entry.read(key, into: cells, batch) else { throw filter.reader.core.damaged(filter.map, row) }
        guard let evaluator else { return }
        let isWanted = evaluator.matches(batch.row(batch.count - 1), filter.related)
        try evaluator.throwStorageFailure()
        if !isWanted { batch.removeLastRow() }
    }
}
