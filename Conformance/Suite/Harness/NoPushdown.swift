internal import PolystoreStorage

/// A session that answers no condition and no order by itself, so that everything is done above it.
final class NoPushdown: ForwardingReader, ValueQueryReader {
    let reader: any StorageReader
    /// How often rows were asked for by their keys.
    private(set) var lookUps = 0
    /// How many batches of rows its cursors gave.
    private(set) var batches = 0

    init(_ reader: any StorageReader) { self.reader = reader }

    func pushdown(of plan: FetchPlan) -> Pushdown {
        let isWhole = plan.predicate == .constant(true) && plan.sort.isEmpty && plan.limit == nil && plan.offset == 0
        return isWhole ? .exact : .unsupported
    }

    func pushdown(of plan: QueryPlan) -> Pushdown { .unsupported }
    func values(for plan: QueryPlan) throws(StorageError) -> [[Value]]? { nil }

    func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        CountedRows(try reader.cursor(for: plan)) { [self] in batches += 1 }
    }

    func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        lookUps += 1
        try reader.rows(entity, keys: keys, into: batch)
    }
}

/// A cursor that says when it has given a batch.
private final class CountedRows: RowCursor {
    private let cursor: any RowCursor
    private let count: () -> Void

    init(_ cursor: any RowCursor, _ count: @escaping () -> Void) {
        self.cursor = cursor
        self.count = count
    }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        let hasRows = try cursor.next(into: batch)
        if hasRows { count() }
        return hasRows
    }
}
