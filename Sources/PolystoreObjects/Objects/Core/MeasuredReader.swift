internal import PolystoreFoundation
internal import PolystoreStorage

/// A session that counts its operations and the rows that it returns.
///
/// It wraps the session of any store, so the numbers have the same meaning for all stores. The rows that an engine reads internally are in
/// its own measured plan.
final class MeasuredReader: ForwardingReader, ValueQueryReader, SingleRowReader {
    let reader: any StorageReader
    /// The number of operations.
    private(set) var requests = 0
    /// The number of rows and relationship pairs that the session returned.
    private(set) var rowsRead = 0

    init(_ reader: any StorageReader) { self.reader = reader }

    private func asked() { requests += 1 }
    fileprivate func read(_ rows: Int) { rowsRead += rows }

    func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        asked()
        return Cursor(try reader.cursor(for: plan), self)
    }

    func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        asked()
        let before = batch.count
        try reader.rows(entity, keys: keys, into: batch)
        read(batch.count - before)
    }

    func row(_ entity: EntityIndex, key: Int64, into batch: RowBatch) throws(StorageError) {
        asked()
        let before = batch.count
        if let single = reader.ability((any SingleRowReader).self) {
            try single.row(entity, key: key, into: batch)
        } else {
            try reader.rows(entity, keys: [key], into: batch)
        }
        read(batch.count - before)
    }

    func pushdown(of plan: QueryPlan) -> Pushdown { reader.ability((any ValueQueryReader).self)?.pushdown(of: plan) ?? .unsupported }

    func values(for plan: QueryPlan) throws(StorageError) -> [[Value]]? {
        // A query that the store would compute from rows is computed above, where the rows are counted.
        guard let queries = reader.ability((any ValueQueryReader).self), queries.pushdown(of: plan) == .exact else { return nil }
        asked()
        let answer = try queries.values(for: plan)
        read(answer?.count ?? 0)
        return answer
    }

    func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
    ) throws(StorageError) {
        asked()
        try reader.links(link, side: side, keys: keys) { pairs throws(StorageError) in
            read(pairs.count)
            try body(pairs)
        }
    }

    /// A cursor that counts its rows.
    private final class Cursor: RowCursor {
        private let cursor: any RowCursor
        private let reader: MeasuredReader

        init(_ cursor: any RowCursor, _ reader: MeasuredReader) {
            self.cursor = cursor
            self.reader = reader
        }

        func next(into batch: RowBatch) throws(StorageError) -> Bool {
            defer { reader.read(batch.count) }
            return try cursor.next(into: batch)
        }
    }
}
