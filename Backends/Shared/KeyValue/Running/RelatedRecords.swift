internal import PolystoreStorage

/// The rows that relationships lead to, read from a session.
final class RelatedRecords: RelatedRows {
    private static let longestPath = 64

    private let reader: KeyValueReader
    /// The rows that were asked for last, each in memory of its own: the rows of a path are needed together, and a batch of several would move
    /// them when it grows.
    private var recent: [RowBatch] = []
    private var next = 0
    private var failure: StorageError?

    init(_ reader: KeyValueReader) { self.reader = reader }

    func row(_ entity: EntityIndex, _ key: Int64) -> RowView? {
        let map = reader.core.layout.rows[entity]
        do throws(StorageError) {
            guard let record = try reader.get(map, key) else { return nil }
            let batch = oldest()
            try reader.core.decode(key, record, map, into: batch)
            return batch.row(0)
        } catch {
            failure = failure ?? error
            return nil
        }
    }

    /// The batch of the row that was asked for the longest ago, empty.
    private func oldest() -> RowBatch {
        if recent.count < Self.longestPath { recent.append(RowBatch(capacity: 1)) }
        let batch = recent[next % Self.longestPath]
        next += 1
        batch.clear()
        return batch
    }

    func members(_ entity: EntityIndex, _ relationship: Int, of key: Int64, _ body: (borrowing RowView) -> Bool) {
        do throws(StorageError) { try MemberRows(reader, reader.core.schema).forEach(entity, relationship, of: key, body) } catch {
            failure = failure ?? error
        }
    }

    func throwFailure() throws(StorageError) { if let failure { throw failure } }
}
