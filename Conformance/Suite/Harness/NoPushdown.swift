internal import PolystoreStorage

/// A session that answers no condition and no sort order itself, so that the layer above evaluates everything.
final class NoPushdown: ForwardingReader, ValueQueryReader {
    let reader: any StorageReader
    /// The number of lookups of rows by their keys.
    private(set) var lookUps = 0
    /// The number of batches that its cursors returned.
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

/// A cursor that reports each batch that it returns.
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
