/// Rows that are held in memory, handed out in an order. The cells of a batch point into what is held.
public final class HeldRows: RowCursor {
    private let rows: RowBatch
    private let schema: Schema
    private var positions: ArraySlice<Int>

    /// Rows of a batch that nobody fills again, those at the positions.
    public init(_ rows: RowBatch, at positions: some Sequence<Int>, schema: Schema) {
        self.rows = rows
        self.schema = schema
        self.positions = Array(positions)[...]
    }

    /// All rows of a batch that nobody fills again, as they come.
    public convenience init(_ rows: RowBatch, schema: Schema) { self.init(rows, at: 0..<rows.count, schema: schema) }

    /// Hands out as many rows as the batch takes.
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
