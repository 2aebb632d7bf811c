/// Sorts rows by the order of a plan and applies its offset and limit.
///
/// If the plan has a limit, the sorter buffers no more than about twice the requested rows.
package struct RowSorter {
    private let schema: Schema
    private let plan: FetchPlan
    private let order: RowOrder
    private let wanted: Int
    private var rows = RowBatch(capacity: 1024)
    /// The values of the sort keys of each row, if they are computed or come from related rows, which are available only while the row is
    /// added.
    private var values: [[Value]] = []

    /// Creates a sorter without rows.
    package init(_ plan: FetchPlan, schema: Schema) {
        self.schema = schema
        self.plan = plan
        order = RowOrder(plan.sort, schema: schema)
        let end = (plan.limit ?? .max).addingReportingOverflow(plan.offset)
        wanted = end.overflow ? .max : end.partialValue
    }

    /// The number of buffered rows, and their size in bytes.
    package var held: (rows: Int, bytes: Int) { (rows.count, rows.copiedBytes) }

    /// Copies a row into the sorter.
    ///
    /// - Throws: The first error in the computation of a sort key.
    package mutating func add(_ row: borrowing RowView, _ related: some RelatedRows) throws(StorageError) {
        rows.append(copying: row, slots: schema[row.entity].slots.count)
        if !order.isPlain {
            values.append(order.values(row, related))
            do throws(QueryError) { try order.throwFailure() } catch { throw StorageError(error) }
        }
        // Prune at twice the requested number, so that each row is sorted about once.
        if wanted < 1 << 40, rows.count >= max(2 * wanted, 1024) { prune() }
    }

    private mutating func prune() {
        let kept = RowBatch(capacity: 1024), positions = positions
        for position in positions {
            let row = rows.row(position)
            kept.append(copying: row, slots: schema[row.entity].slots.count)
        }
        if !order.isPlain { values = positions.map { values[$0] } }
        rows = kept
    }

    /// Returns the rows in their order, after applying the offset and the limit.
    package func sorted() -> HeldRows { HeldRows(rows, at: positions.dropFirst(plan.offset), schema: schema) }

    private var positions: ArraySlice<Int> {
        (order.isPlain ? order.positions(rows) : order.positions(rows, by: values)).prefix(wanted)
    }
}
