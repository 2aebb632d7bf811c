internal import PolystoreStorage

/// The rows of a hierarchy in key order, one at a time.
struct RowScan {
    private let cursor: any RowCursor
    let store: ComparedStore
    private let batch = RowBatch(capacity: 1024)
    private var index = 0
    /// The number of rows that were read.
    private(set) var count = 0
    private var isFinished = false

    init(_ session: ReadSession, _ store: ComparedStore, _ root: EntityIndex) throws(StorageError) {
        self.store = store
        cursor = try store.reading { () throws(StorageError) in try session.cursor(for: FetchPlan(session.schema, root)) }
        try refill()
    }

    /// The key of the current row, or nil after the last row.
    var key: Int64? { isFinished ? nil : batch.key(index) }

    /// The entity of the current row.
    var entity: EntityIndex { batch.row(index).entity }

    /// Returns a cell of the current row. It is valid until the scan advances.
    func cell(_ slot: Int) -> Cell { batch.row(index)[slot] }

    /// Advances to the next row.
    mutating func advance() throws(StorageError) {
        index += 1
        if index == batch.count { try refill() }
    }

    private mutating func refill() throws(StorageError) {
        index = 0
        isFinished = try store.reading { () throws(StorageError) in
            while try cursor.next(into: batch) { if batch.count > 0 { return false } }
            return true
        }
        if !isFinished { count += batch.count }
    }
}
