internal import PolystoreStorage

/// The rows of an index in its order, group by group. The rows of a group have the same values in the leading slots.
///
/// Only the group that is being read is in memory, and of it only the rows that have to be sorted.
final class OrderedRows: RowCursor {
    private let filter: RowFilter
    private let plan: FetchPlan
    private var groups: IndexGroups
    private var keys: ArraySlice<Int64> = []
    private var sorted: (any RowCursor)?
    private var toSkip: Int
    private var left: Int
    /// The number of remaining lookups before another plan is cheaper.
    private var budget: Int

    init(_ reader: KeyValueReader, _ plan: FetchPlan, _ order: IndexOrder, budget: Int = .max) throws(StorageError) {
        filter = RowFilter(reader, plan)
        self.plan = plan
        self.budget = budget
        groups = try IndexGroups(order, reader)
        toSkip = plan.offset
        left = plan.limit ?? .max
    }

    /// Whether the budget of lookups was used up.
    private(set) var isExhausted = false

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        try filter.reader.checkOpen()
        batch.clear()
        while left > 0, !batch.isFull {
            if let sorted {
                if try !takeSorted(sorted, batch) { self.sorted = nil }
            } else if let key = keys.popFirst() {
                budget -= 1
                if budget < 0 {
                    isExhausted = true
                    break
                }
                if try filter.take(key, batch) { count(batch) }
            } else if try !nextGroup() {
                break
            }
        }
        return batch.count > 0
    }

    private func nextGroup() throws(StorageError) -> Bool {
        guard let group = try groups.next() else { return false }
        guard group.needsSorting else {
            keys = group.keys[...]
            return true
        }
        var whole = plan
        whole.limit = nil
        whole.offset = 0
        budget -= group.keys.count
        let found = KeySearch.Found(keys: group.keys.sorted(), uses: [])
        var unsorted = whole
        unsorted.sort = []
        sorted = try filter.reader.sorted(KeyValueScan(filter.reader, unsorted, .found(found)), whole)
        return true
    }

    /// Appends rows of a sorted group to a batch.
    private func takeSorted(_ rows: any RowCursor, _ batch: RowBatch) throws(StorageError) -> Bool {
        let wanted = RowBatch(capacity: min(batch.capacity - batch.count, left == .max ? batch.capacity : left + toSkip))
        guard try rows.next(into: wanted) else { return false }
        for index in 0..<wanted.count where left > 0 {
            let row = wanted.row(index)
            batch.append(copying: row, slots: filter.reader.core.schema[row.entity].slots.count)
            count(batch)
        }
        return true
    }

    /// Skips the rows before the offset.
    private func count(_ batch: RowBatch) {
        if toSkip > 0 {
            toSkip -= 1
            batch.removeLastRow()
        } else {
            left -= 1
        }
    }
}
