#if LMDB
internal import CLMDB
internal import PolystoreKeyValue
internal import PolystoreStorage

/// An engine cursor, which is closed no later than the session.
final class LMDBCursor {
    fileprivate var cursor: OpaquePointer?
    fileprivate var key = MDB_val()
    fileprivate var value = MDB_val()

    init(_ transaction: OpaquePointer?, _ handle: MDB_dbi) throws(StorageError) {
        try LMDBError.check(mdb_cursor_open(transaction, handle, &cursor))
    }

    /// Whether the cursor was closed.
    var isFree: Bool { cursor == nil }

    func close() {
        if let cursor { mdb_cursor_close(cursor) }
        cursor = nil
    }

    fileprivate func move(_ operation: MDB_cursor_op) throws(StorageError) -> Bool {
        guard let cursor else { throw StorageError(.storeClosed, "the session of the cursor has written changes or ended; fetch again") }
        let code = mdb_cursor_get(cursor, &key, &value, operation)
        if code == MDB_NOTFOUND { return false }
        try LMDBError.check(code)
        return true
    }
}

/// A reader's reference to a cursor: releasing it closes the cursor.
final class LMDBCursorHandle: OrderedCursor {
    private let cursor: LMDBCursor
    private var isStarted = false

    init(_ cursor: LMDBCursor) { self.cursor = cursor }

    deinit { cursor.close() }

    func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        isStarted = true
        cursor.key = MDB_val(key)
        return try cursor.move(MDB_SET_RANGE)
    }

    func next() throws(StorageError) -> Bool {
        defer { isStarted = true }
        return try cursor.move(isStarted ? MDB_NEXT : MDB_FIRST)
    }

    func previous() throws(StorageError) -> Bool { isStarted ? try cursor.move(MDB_PREV) : false }

    func last() throws(StorageError) -> Bool {
        isStarted = true
        return try cursor.move(MDB_LAST)
    }

    var key: UnsafeRawBufferPointer { cursor.key.bytes }
    var value: UnsafeRawBufferPointer { cursor.value.bytes }
}
#endif
