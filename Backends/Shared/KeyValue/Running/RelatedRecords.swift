internal import PolystoreStorage

/// The rows that relationships lead to, read from a session.
final class RelatedRecords: RelatedRows {
    private let reader: KeyValueReader
    private let batch = RowBatch(capacity: 16)
    private var failure: StorageError?

    init(_ reader: KeyValueReader) { self.reader = reader }

    func row(_ entity: EntityIndex, _ key: Int64) -> RowView? {
        // A path is a few rows long; they are needed together.
        if batch.count >= 64 { batch.clear() }
        let map = reader.core.layout.rows[entity]
        do throws(StorageError) {
            guard let record = try reader.get(map, key) else { return nil }
            try reader.core.decode(key, record, map, into: batch)
        } catch {
            failure = failure ?? error
            return nil
        }
        return batch.row(batch.count - 1)
    }

    func members(_ entity: EntityIndex, _ relationship: Int, of key: Int64, _ body: (borrowing RowView) -> Bool) {
        do throws(StorageError) { try MemberRows(reader, reader.core.schema).forEach(entity, relationship, of: key, body) } catch {
            failure = failure ?? error
        }
    }

    func throwFailure() throws(StorageError) { if let failure { throw failure } }
}
