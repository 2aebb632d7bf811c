#if LMDB
internal import CLMDB
internal import PolystoreKeyValue
internal import PolystoreStorage

/// The write transaction, with nested transactions for savepoints.
final class LMDBWriter: LMDBReader, OrderedWriter {
    private var parents: [OpaquePointer?] = []
    /// The cursors for appending, one for each map: a cursor that stays at the end is faster than a search for each row.
    private var appenders: [Int: OpaquePointer] = [:]

    // The base class's deinitializer would call `end` after the properties of this class are gone.
    deinit { end() }

    private func check(_ code: Int32) throws(StorageError) {
        if code == MDB_SUCCESS { return }
        if code == MDB_MAP_FULL, let environment { throw environment.full() }
        throw environment?.error(code) ?? LMDBError.error(code)
    }

    func put(_ map: Int, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StorageError) {
        var key = MDB_val(key), value = MDB_val(value)
        try check(mdb_put(transaction, handles[map], &key, &value, 0))
    }

    func append(_ map: Int, _ key: UnsafeRawBufferPointer, _ count: Int) throws(StorageError) -> UnsafeMutableRawPointer {
        var key = MDB_val(key), value = MDB_val(mv_size: count, mv_data: nil)
        let cursor = try appender(map)
        try check(mdb_cursor_put(cursor, &key, &value, UInt32(MDB_APPEND | MDB_RESERVE)))
        guard let target = value.mv_data else { throw StorageError(.inputOutput, "LMDB allocated no space for a value") }
        return target
    }

    private func appender(_ map: Int) throws(StorageError) -> OpaquePointer? {
        if let cursor = appenders[map] { return cursor }
        var cursor: OpaquePointer?
        try LMDBError.check(mdb_cursor_open(transaction, handles[map], &cursor))
        appenders[map] = cursor
        return cursor
    }

    func reserve(_ map: Int, _ key: UnsafeRawBufferPointer, _ count: Int) throws(StorageError) -> UnsafeMutableRawPointer {
        var key = MDB_val(key), value = MDB_val(mv_size: count, mv_data: nil)
        try check(mdb_put(transaction, handles[map], &key, &value, UInt32(MDB_RESERVE)))
        guard let target = value.mv_data else { throw StorageError(.inputOutput, "LMDB allocated no space for a value") }
        return target
    }

    func lastKey(_ map: Int) throws(StorageError) -> Int64? {
        var cursor: OpaquePointer?
        try LMDBError.check(mdb_cursor_open(transaction, handles[map], &cursor))
        defer { mdb_cursor_close(cursor) }
        var key = MDB_val(), value = MDB_val()
        let code = mdb_cursor_get(cursor, &key, &value, MDB_LAST)
        if code == MDB_NOTFOUND { return nil }
        try LMDBError.check(code)
        return RowKeyBytes.key(key.bytes)
    }

    func delete(_ map: Int, _ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool {
        var key = MDB_val(key)
        let code = mdb_del(transaction, handles[map], &key, nil)
        if code == MDB_NOTFOUND { return false }
        try check(code)
        return true
    }

    func clear(_ map: Int) throws(StorageError) {
        closeAll()
        try check(mdb_drop(transaction, handles[map], 0))
    }

    /// Closes all cursors: they belong to one transaction, and a nested one begins without any.
    private func closeAll() {
        closeCursors()
        for cursor in appenders.values { mdb_cursor_close(cursor) }
        appenders.removeAll()
    }

    func savepoint() throws(StorageError) {
        closeAll()
        var nested: OpaquePointer?
        try LMDBError.check(mdb_txn_begin(environment?.handle, transaction, 0, &nested))
        parents.append(transaction)
        transaction = nested
    }

    func undoSavepoint() throws(StorageError) {
        guard let parent = parents.popLast() else { return }
        closeAll()
        mdb_txn_abort(transaction)
        transaction = parent
    }

    func keepSavepoint() throws(StorageError) {
        guard let parent = parents.popLast() else { return }
        closeAll()
        let code = mdb_txn_commit(transaction)
        transaction = parent
        try check(code)
    }

    override func didEnd(_ environment: LMDBEnvironment) { environment.endWrite() }

    var commitNumber: Int64? { Int64(mdb_txn_id(transaction)) }

    func commit() throws(StorageError) {
        closeAll()
        let number = UInt64(mdb_txn_id(transaction)), code = mdb_txn_commit(transaction)
        let failure = code == MDB_SUCCESS ? nil : environment?.error(code, ofCommit: number)
        finish()
        if let failure { throw failure }
    }

    override func end() {
        guard transaction != nil else { return }
        closeAll()
        while let parent = parents.popLast() {
            mdb_txn_abort(transaction)
            transaction = parent
        }
        mdb_txn_abort(transaction)
        finish()
    }
}
#endif
