/// A cursor over rows with given primary keys, in the order of the keys. It reads them in blocks.
final class KeyedRows: RowCursor {
    private let reader: any StorageReader
    private let schema: Schema
    private let root: EntityIndex
    private let slots: SlotMask?
    private var keys: KeyBlocks
    private var block: HeldRows?

    /// Creates a cursor over rows of a hierarchy.
    init(
        _ reader: any StorageReader, _ root: EntityIndex, _ keys: ArraySlice<Int64>, _ fields: FetchPlan.Fields, _ schema: Schema
    ) {
        self.reader = reader
        self.schema = schema
        self.root = root
        self.keys = KeyBlocks(keys, most: 1024)
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
            guard let wanted = keys.next() else { return false }
            block = try read(wanted)
        }
        return true
    }

    private func read(_ wanted: [Int64]) throws(StorageError) -> HeldRows {
        let rows = RowBatch(capacity: wanted.count)
        try reader.rows(root, keys: wanted, slots, schema, into: rows)
        // A store that reads them by a condition has an order of its own.
        let positions = Dictionary((0..<rows.count).map { (rows.key($0), $0) }) { first, _ in first }
        keys.adapt(to: rows)
        return HeldRows(rows, at: wanted.compactMap { positions[$0] }, schema: schema)
    }
}
