/// A cursor over rows with given primary keys, in the order of the keys. It reads them in blocks.
final class KeyedRows: RowCursor {
    /// The maximum number of rows of a block, the number of those of the first one, and the size in bytes of one whose rows are as long as
    /// those before it.
    private static let mostRows = 1024, firstRows = 64, usualBytes = 4 << 20

    private let reader: any StorageReader
    private let schema: Schema
    private let root: EntityIndex
    private let slots: SlotMask?
    private var keys: ArraySlice<Int64>
    private var size = KeyedRows.firstRows
    private var block: HeldRows?

    /// Creates a cursor over rows of a hierarchy.
    init(
        _ reader: any StorageReader, _ root: EntityIndex, _ keys: ArraySlice<Int64>, _ fields: FetchPlan.Fields, _ schema: Schema
    ) {
        self.reader = reader
        self.schema = schema
        self.root = root
        self.keys = keys
        slots =
            switch fields {
            case .all: nil
            case .keysOnly: SlotMask()
            case .some(let mask): mask
            }
    }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        while try block?.next(into: batch) != true {
            batch.clear()
            if keys.isEmpty { return false }
            block = try readBlock()
        }
        return true
    }

    private func readBlock() throws(StorageError) -> HeldRows {
        let wanted = keys.prefix(size), rows = RowBatch(capacity: wanted.count)
        keys = keys.dropFirst(size)
        try reader.rows(root, keys: Array(wanted), slots, schema, into: rows)
        // A store that reads them by a condition has an order of its own.
        let positions = Dictionary((0..<rows.count).map { (rows.key($0), $0) }) { first, _ in first }
        let rowBytes = max(rows.copiedBytes / max(rows.count, 1), 1)
        size = max(min(2 * size, Self.mostRows, Self.usualBytes / rowBytes), 1)
        return HeldRows(rows, at: wanted.compactMap { positions[$0] }, schema: schema)
    }
}
