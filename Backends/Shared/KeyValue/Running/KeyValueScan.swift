internal import PolystoreStorage

/// The rows of a scan plan that satisfy the condition, in the order of their keys. Cells point into the engine's memory.
final class KeyValueScan: RowCursor {
    private let filter: RowFilter
    private let access: ScanPlan.Access
    private var toSkip: Int
    private var left: Int
    private var cursor: (any OrderedCursor)?
    private var keys: ArraySlice<Int64> = []
    private var isStarted = false

    /// - Parameter slots: The slots that the plan's condition and the reader of the rows use, nil for all.
    init(_ reader: KeyValueReader, _ plan: FetchPlan, _ access: ScanPlan.Access, only slots: Set<Int>? = nil) {
        filter = RowFilter(reader, plan, only: slots)
        self.access = access
        // Results in another order are cut to offset and limit after sorting.
        let isCut = plan.sort.isEmpty
        toSkip = isCut ? plan.offset : 0
        left = isCut ? plan.limit ?? .max : .max
    }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        try filter.reader.checkOpen()
        batch.clear()
        if !isStarted { try start() }
        switch access {
        case .all, .keyRange, .ordered: try scanRows(batch)
        case .keys, .found: try lookUp(batch)
        }
        return batch.count > 0
    }

    private func start() throws(StorageError) {
        isStarted = true
        switch access {
        case .all, .ordered: cursor = try filter.reader.engine.cursor(filter.map)
        case .keyRange(let low, _):
            let cursor = try filter.reader.engine.cursor(filter.map)
            pending = try RowKey(low).withBytes { bytes throws(StorageError) in try cursor.seek(bytes) }
            self.cursor = cursor
        case .keys(let keys): self.keys = Set(keys).sorted()[...]
        case .found(let found): keys = found.keys[...]
        }
    }

    /// Whether the cursor is positioned at a pair that was not read yet; nil before the first.
    private var pending: Bool?

    private func scanRows(_ batch: RowBatch) throws(StorageError) {
        guard let cursor else { return }
        var high = Int64.max
        if case .keyRange(_, let last) = access { high = last }
        while left > 0, !batch.isFull {
            let isThere: Bool
            if let pending {
                isThere = pending
                self.pending = nil
            } else {
                isThere = try cursor.next()
            }
            let key = isThere ? KeyBytes.key(cursor.key) : 0
            guard isThere, key <= high else {
                self.cursor = nil
                return
            }
            if try filter.take(key, cursor.value, batch) { count(batch) }
        }
    }

    private func lookUp(_ batch: RowBatch) throws(StorageError) {
        while left > 0, !batch.isFull, let key = keys.popFirst() {
            if try filter.take(key, batch) { count(batch) }
        }
    }

    /// Skips the rows before the offset.
    @inline(__always)
    private func count(_ batch: RowBatch) {
        if toSkip > 0 {
            toSkip -= 1
            batch.removeLastRow()
        } else {
            left -= 1
        }
    }
}
