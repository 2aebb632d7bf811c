/// A cursor over rows buffered in memory, in a given order. The cells of a batch point into the buffered rows.
public final class HeldRows: RowCursor {
    private let rows: RowBatch
    private let schema: Schema
    private var positions: ArraySlice<Int>

    /// Creates a cursor over the rows of a batch at the given positions. The batch must not be filled again.
    public init(_ rows: RowBatch, at positions: some Sequence<Int>, schema: Schema) {
        self.rows = rows
        self.schema = schema
        self.positions = Array(positions)[...]
    }

    /// Creates a cursor over all rows of a batch in their order. The batch must not be filled again.
    public convenience init(_ rows: RowBatch, schema: Schema) { self.init(rows, at: 0..<rows.count, schema: schema) }

    /// Fills the batch with as many rows as it can contain.
    public func next(into batch: RowBatch) throws(StorageError) -> Bool {
        batch.clear()
        while !batch.isFull, let position = positions.popFirst() {
            let row = rows.row(position), count = schema[row.entity].slots.count
            let cells = batch.appendRow(key: row.key, version: row.version, entity: row.entity, slots: count)
            cells.update(from: row.cells, count: count)
        }
        return batch.count > 0
    }
}
