internal import PolystoreStorage

/// Rows that are held, sorted and cut. Of an answer with a limit no more than about twice what is wanted is held.
final class SortedRows: RowCursor {
    private let schema: Schema
    private let order: RowOrder
    private let related: RelatedRecords
    private let wanted: Int
    private var rows = RowBatch(capacity: 1024)
    private var chosen: ArraySlice<Int> = []

    init(_ reader: KeyValueReader, _ plan: FetchPlan) {
        schema = reader.core.schema
        order = RowOrder(plan.sort, schema: schema)
        related = RelatedRecords(reader)
        let end = (plan.limit ?? .max).addingReportingOverflow(plan.offset)
        wanted = end.overflow ? .max : end.partialValue
    }

    /// The rows of a source in order, cut as a plan says.
    convenience init(_ source: any RowCursor, _ reader: KeyValueReader, _ plan: FetchPlan) throws(StorageError) {
        self.init(reader, plan)
        let batch = RowBatch()
        while try source.next(into: batch) {
            for index in 0..<batch.count { try add(batch.row(index)) }
        }
        chosen = try sorted()[...].dropFirst(plan.offset)
    }

    private func add(_ row: borrowing RowView) throws(StorageError) {
        rows.append(copying: row, slots: schema[row.entity].slots.count)
        // Pruned when there are twice as many as wanted: each row is sorted about once.
        guard wanted < 1 << 40, rows.count >= max(2 * wanted, 1024) else { return }
        let kept = RowBatch(capacity: 1024)
        for index in try sorted() {
            let row = rows.row(index)
            kept.append(copying: row, slots: schema[row.entity].slots.count)
        }
        rows = kept
    }

    /// The positions of the held rows in order, no more than are wanted.
    private func sorted() throws(StorageError) -> [Int] {
        let positions = (0..<rows.count).sorted { order.compare(rows.row($0), rows.row($1), related) < 0 }
        try related.throwFailure()
        do throws(QueryError) { try order.throwFailure() } catch { throw StorageError(error) }
        return Array(positions.prefix(wanted))
    }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        batch.clear()
        while !batch.isFull, let index = chosen.popFirst() {
            let row = rows.row(index), count = schema[row.entity].slots.count
            let cells = batch.appendRow(key: row.key, version: row.version, entity: row.entity, slots: count)
            cells.update(from: row.cells, count: count)
        }
        return batch.count > 0
    }
}

/// Rows that are held, in the order in which they came.
final class KeptRows: RowCursor {
    private let schema: Schema
    private let rows = RowBatch(capacity: 1024)
    private var position = 0

    init(_ schema: Schema) { self.schema = schema }

    func add(_ batch: RowBatch) {
        for index in 0..<batch.count {
            let row = batch.row(index)
            rows.append(copying: row, slots: schema[row.entity].slots.count)
        }
    }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        batch.clear()
        while position < rows.count, !batch.isFull {
            let row = rows.row(position), count = schema[row.entity].slots.count
            let cells = batch.appendRow(key: row.key, version: row.version, entity: row.entity, slots: count)
            cells.update(from: row.cells, count: count)
            position += 1
        }
        return batch.count > 0
    }
}
