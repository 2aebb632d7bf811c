/// A cursor that copies the rows of another cursor in blocks. An engine may return rows one at a time, whereas the related rows of a whole
/// block are read at once.
package final class BlockRows: RowCursor {
    private static let size = 256, mostBytes = 4 << 20

    private let cursor: any RowCursor
    private let schema: Schema
    private let given = RowBatch()

    /// Creates a cursor over the rows of another cursor.
    package init(_ cursor: any RowCursor, _ schema: Schema) {
        self.cursor = cursor
        self.schema = schema
    }

    /// Fills the batch with a block of rows, or with fewer rows if they are long.
    package func next(into batch: RowBatch) throws(StorageError) -> Bool {
        batch.clear()
        while batch.count < Self.size, batch.copiedBytes < Self.mostBytes, try cursor.next(into: given) {
            for index in 0..<given.count {
                let row = given.row(index)
                batch.append(copying: row, slots: schema[row.entity].slots.count)
            }
        }
        return batch.count > 0
    }
}
