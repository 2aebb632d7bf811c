#if LMDB
internal import CLMDB
internal import PolystoreKeyValue
internal import PolystoreStorage

/// An engine cursor, which is closed no later than the session.
final class LMDBCursor {
    fileprivate var cursor: OpaquePointer?
    var key = MDB_val()
    var value = MDB_val()

    init(_ transaction: OpaquePointer?, _ handle: MDB_dbi) throws(StorageError) {
        try LMDBError.check(mdb_cursor_open(transaction, handle, &cursor))
    }

    /// Whether the cursor was closed.
    var isFree: Bool { cursor == nil }

    func close() {
        if let cursor { mdb_cursor_close(cursor) }
        cursor = nil
    }

    func move(_ operation: MDB_cursor_op) throws(StorageError) -> Bool {
        guard let cursor else { throw StorageError(.storeClosed, "the session of the cursor has written changes or ended; fetch again") }
        let code = mdb_cursor_get(cursor, &key, &value, operation)
        if code == MDB_NOTFOUND { return false }
        try LMDBError.check(code)
        return true
    }
}
#endif
