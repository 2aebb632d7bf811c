/// A cursor over the rows of another cursor that satisfy a condition, with the offset and the limit of a plan. It serves plans of which the
/// store evaluates everything except the condition, and works block by block.
final class FilteredRows: RowCursor {
    /// The maximum number of bytes returned at once, however long values are, and the number of rows examined at once after the first
    /// match. Stores may return rows one by one.
    private static let mostBytes = 1 << 20, mostRows = 256

    private let source: any RowCursor
    private let schema: Schema
    private let evaluator: PredicateEvaluator
    private let related: StoredRows
    private let count: ResidualCount
    private let block = RowBatch()
    private var position = 0
    private var toSkip: Int
    private var left: Int

    /// Creates a cursor.
    ///
    /// - Parameter source: The rows, in the order of the plan.
    init(_ source: any RowCursor, _ plan: FetchPlan, _ related: StoredRows, _ schema: Schema, _ count: ResidualCount) {
        self.source = source
        self.schema = schema
        self.related = related
        self.count = count
        evaluator = PredicateEvaluator(plan.predicate, schema: schema)
        toSkip = plan.offset
        left = plan.limit ?? .max
    }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        batch.clear()
        var looked = 0
        while left > 0, !batch.isFull, batch.copiedBytes < Self.mostBytes, batch.count == 0 || looked < Self.mostRows {
            if position == block.count, try !readBlock() { break }
            looked += block.count - position
            while position < block.count, left > 0, !batch.isFull, batch.copiedBytes < Self.mostBytes {
                let row = block.row(position)
                position += 1
                related.beginRow()
                let isWanted = evaluator.matches(row, related)
                try related.throwFailure()
                try evaluator.throwStorageFailure()
                if !isWanted { continue }
                if toSkip > 0 {
                    toSkip -= 1
                    continue
                }
                batch.append(copying: row, slots: schema[row.entity].slots.count)
                left -= 1
                count.found += 1
            }
        }
        return batch.count > 0
    }

    private func readBlock() throws(StorageError) -> Bool {
        position = 0
        guard try source.next(into: block) else { return false }
        count.read += block.count
        related.begin(block)
        return true
    }
}
