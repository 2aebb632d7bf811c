/// Sorts many rows by the order of a plan, of which it buffers only the values of the sort keys and the primary keys.
///
/// The rows themselves are read again in their order, so the session must see the same rows as long as it lasts.
struct KeySorter {
    private let plan: FetchPlan
    private let schema: Schema
    private let order: RowOrder
    private let keys = RowBatch(capacity: 1024)

    /// Creates a sorter without rows.
    init(_ plan: FetchPlan, schema: Schema) {
        self.plan = plan
        self.schema = schema
        order = RowOrder(plan.sort, schema: schema)
    }

    /// Adds a row.
    ///
    /// - Throws: The first error in the computation of a sort key.
    func add(_ row: borrowing RowView, _ related: some RelatedRows) throws(StorageError) {
        order.appendKeys(of: row, related, to: keys)
        do throws(QueryError) { try order.throwFailure() } catch { throw StorageError(error) }
    }

    /// Returns the rows in their order, after applying the offset and the limit.
    func sorted(_ reader: any StorageReader) -> KeyedRows {
        let keys = order.primaryKeys(byKeys: keys).dropFirst(plan.offset).prefix(plan.limit ?? .max)
        return KeyedRows(reader, schema[plan.entity].root, keys, plan.fields, schema)
    }
}
