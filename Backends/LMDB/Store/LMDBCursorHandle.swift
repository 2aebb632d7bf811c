#if LMDB
internal import CLMDB
internal import PolystoreKeyValue
internal import PolystoreStorage

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
