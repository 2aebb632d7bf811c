/// A cursor that is valid as long as its session.
final class SessionCursor: RowCursor {
    private let session: ReadSession
    private let rows: any RowCursor

    /// Creates a cursor that forwards to another one as long as a session is active.
    init(_ rows: any RowCursor, of session: ReadSession) {
        self.rows = rows
        self.session = session
    }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        try session.checkActive()
        return try rows.next(into: batch)
    }
}
