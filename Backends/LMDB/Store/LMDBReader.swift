#if LMDB
internal import CLMDB
internal import PolystoreKeyValue
internal import PolystoreStorage

/// A read transaction.
class LMDBReader: OrderedReader {
    /// The environment; nil when the session has ended.
    final var environment: LMDBEnvironment?
    final var transaction: OpaquePointer?
    final let handles: [MDB_dbi]
    /// The cursors, which are closed before the transaction ends.
    private var cursors: [LMDBCursor] = []

    init(_ environment: LMDBEnvironment?, _ transaction: OpaquePointer?, _ handles: [MDB_dbi]) {
        self.environment = environment
        self.transaction = transaction
        self.handles = handles
    }

    deinit { end() }

    final func get(_ map: Int, _ key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer? {
        var key = MDB_val(key), value = MDB_val()
        let code = mdb_get(transaction, handles[map], &key, &value)
        if code == MDB_NOTFOUND { return nil }
        try LMDBError.check(code)
        return value.bytes
    }

    final func cursor(_ map: Int) throws(StorageError) -> any OrderedCursor {
        cursors.removeAll { $0.isFree }
        let cursor = try LMDBCursor(transaction, handles[map])
        cursors.append(cursor)
        return LMDBCursorHandle(cursor)
    }

    final func count(_ map: Int) throws(StorageError) -> Int {
        var stat = MDB_stat()
        try LMDBError.check(mdb_stat(transaction, handles[map], &stat))
        return stat.ms_entries
    }

    final func closeCursors() {
        for cursor in cursors { cursor.close() }
        cursors.removeAll()
    }

    func end() {
        guard let transaction else { return }
        closeCursors()
        mdb_txn_abort(transaction)
        finish()
    }

    /// Releases the file after the transaction has ended.
    final func finish() {
        transaction = nil
        if let environment { didEnd(environment) }
        environment = nil
    }

    func didEnd(_ environment: LMDBEnvironment) { environment.endRead() }
}
#endif
