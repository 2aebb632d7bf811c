/// Takes in rows and gives those that a plan asks for, in its order: after sorting they are cut to its limit and offset.
///
/// Of an answer with a limit no more than about twice what is wanted is held.
public struct RowSorter {
    private let schema: Schema
    private let plan: FetchPlan
    private let order: RowOrder
    private let wanted: Int
    private var rows = RowBatch(capacity: 1024)
    /// The values of the sort keys of each row, where they are computed or lie in related rows: those are at hand when the row comes.
    private var values: [[Value]] = []

    /// No rows yet.
    public init(_ plan: FetchPlan, schema: Schema) {
        self.schema = schema
        self.plan = plan
        order = RowOrder(plan.sort, schema: schema)
        let end = (plan.limit ?? .max).addingReportingOverflow(plan.offset)
        wanted = end.overflow ? .max : end.partialValue
    }

    /// The number of rows that are held, and their bytes.
    public var held: (rows: Int, bytes: Int) { (rows.count, rows.copiedBytes) }

    /// Copies a row.
    ///
    /// - Throws: The first error that computing a key met.
    public mutating func add(_ row: borrowing RowView, _ related: some RelatedRows) throws(StorageError) {
        rows.append(copying: row, slots: schema[row.entity].slots.count)
        if !order.isPlain {
            values.append(order.values(row, related))
            do throws(QueryError) { try order.throwFailure() } catch { throw StorageError(error) }
        }
        // Pruned when there are twice as many as wanted: each row is sorted about once.
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

    /// The rows in order, cut.
    public func sorted() -> HeldRows { HeldRows(rows, at: positions.dropFirst(plan.offset), schema: schema) }

    private var positions: ArraySlice<Int> {
        (order.isPlain ? order.positions(rows) : order.positions(rows, by: values)).prefix(wanted)
    }
}
