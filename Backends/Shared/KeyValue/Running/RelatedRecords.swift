internal import PolystoreStorage

/// The destination rows of relationships, read from a session.
final class RelatedRecords: RelatedRows {
    private let reader: KeyValueReader
    /// The rows in use, followed by rows that are free for reuse. Each has memory of its own, because a batch of several rows moves them
    /// when it grows.
    private var rows: [RowBatch] = []
    private var used = 0
    private var failure: StorageError?

    init(_ reader: KeyValueReader) { self.reader = reader }

    func beginRow() { used = 0 }

    func row(_ entity: EntityIndex, _ key: Int64) -> RowView? {
        let map = reader.core.layout.rows[entity]
        do throws(StorageError) {
            guard let record = try reader.get(map, key) else { return nil }
            let batch = unused()
            try reader.core.decode(key, record, map, into: batch)
            return batch.row(0)
        } catch {
            failure = failure ?? error
            return nil
        }
    }

    private func unused() -> RowBatch {
        if used == rows.count { rows.append(RowBatch(capacity: 1)) }
        let batch = rows[used]
        used += 1
        batch.clear()
        return batch
    }

    func members(_ entity: EntityIndex, _ relationship: Int, of key: Int64, _ body: (borrowing RowView) -> Bool) {
        let outside = used
        do throws(StorageError) {
            try MemberRows(reader, reader.core.schema).forEach(entity, relationship, of: key) { member in
                // Rows that were read for one member are not needed for the next.
                used = outside
                return body(member)
            }
        } catch {
            failure = failure ?? error
        }
        used = outside
    }

    func throwFailure() throws(StorageError) { if let failure { throw failure } }
}
