/// The rows of a session, which end with it.
final class SessionCursor: RowCursor {
    private let session: ReadSession
    private let rows: any RowCursor

    /// The rows of a cursor, as long as a session goes on.
    init(_ rows: any RowCursor, of session: ReadSession) {
        self.rows = rows
        self.session = session
    }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        try session.checkActive()
        return try rows.next(into: batch)
    }
}
