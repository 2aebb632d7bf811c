#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// The rows of a statement, one for each call. The cells point into the engine's memory, which is valid for one row.
///
/// The cursor ends with its session, which resets the statement. Another thread may then use the connection, so the cursor does not touch
/// it any more.
final class SQLiteCursor: RowCursor {
    private let statement: SQLiteStatement
    private let layout: SQLiteRowLayout
    private var isAtEnd = false
    /// The session that the cursor reads from.
    private let session: SQLiteReader

    init(_ statement: SQLiteStatement, _ layout: SQLiteRowLayout, _ session: SQLiteReader) {
        self.statement = statement
        self.layout = layout
        self.session = session
        statement.beginReading()
    }

    deinit { if !isAtEnd, session.isOpen { statement.reset() } }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        batch.clear()
        if isAtEnd { return false }
        try session.checkOpen()
        guard try statement.step() else {
            isAtEnd = true
            statement.reset()
            return false
        }
        try layout.fill(batch, statement)
        return true
    }
}
#endif
