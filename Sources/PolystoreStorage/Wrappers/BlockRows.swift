/// The rows of a cursor in blocks, copied: an engine may give them one at a time, and what they refer to is read for a block at once.
package final class BlockRows: RowCursor {
    private static let size = 256, mostBytes = 4 << 20

    private let cursor: any RowCursor
    private let schema: Schema
    private let given = RowBatch()

    /// The rows of a cursor.
    package init(_ cursor: any RowCursor, _ schema: Schema) {
        self.cursor = cursor
        self.schema = schema
    }

    /// Hands out a block of rows, fewer where they are long.
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
