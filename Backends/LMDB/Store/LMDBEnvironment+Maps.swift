#if LMDB
internal import CLMDB
internal import PolystoreStorage

extension LMDBEnvironment {
    /// Opens maps by their names, in a transaction that only reads where all are there: then another writer need not be waited for.
    ///
    /// *Requires*: no session is open that could open maps too.
    /// - Parameter create: Whether those that are missing are made.
    func handles(_ names: [String], create: Bool) throws(StorageError) -> [MDB_dbi] {
        if let found = try existing(names) { return found }
        guard create else { throw StorageError(.notADatabase, "the LMDB file holds no Polystore data") }
        let writing = try beginWrite(WriteOptions())
        defer { endWrite() }
        guard let made = try handles(names, writing, UInt32(MDB_CREATE)) else { throw LMDBError.error(MDB_NOTFOUND) }
        return made
    }

    /// The handle of a map that is not there: LMDB refuses it.
    static let noMap = MDB_dbi.max

    /// Opens those of some maps that are there; `noMap` for the others, and for nil.
    func handles(found names: [String?]) throws(StorageError) -> [MDB_dbi] {
        try names.map { name throws(StorageError) in
            guard let name else { return Self.noMap }
            return try existing([name])?.first ?? Self.noMap
        }
    }

    private func existing(_ names: [String]) throws(StorageError) -> [MDB_dbi]? {
        let transaction = try beginRead(nil)
        defer { endRead() }
        return try handles(names, transaction, 0)
    }

    /// Opens maps in a transaction, which ends: handles of one that is undone would be closed with it. Nil where one is missing.
    private func handles(_ names: [String], _ transaction: OpaquePointer, _ flags: UInt32) throws(StorageError) -> [MDB_dbi]? {
        var handles: [MDB_dbi] = []
        for name in names {
            var handle: MDB_dbi = 0, kind: UInt32 = 0
            var code = mdb_dbi_open(transaction, name, flags, &handle)
            if code == MDB_SUCCESS { code = mdb_dbi_flags(transaction, handle, &kind) }
            // Keys of a map of this library are in the order of their bytes, each once.
            if code == MDB_SUCCESS, kind != 0 { code = MDB_CORRUPTED }
            if code != MDB_SUCCESS {
                mdb_txn_abort(transaction)
                if code == MDB_NOTFOUND { return nil }
                throw error(code)
            }
            handles.append(handle)
        }
        try commit(transaction)
        return handles
    }

    /// Removes maps; those that are not there are left out.
    func remove(_ names: [String]) throws(StorageError) {
        let transaction = try beginWrite(WriteOptions())
        defer { endWrite() }
        for name in names {
            var handle: MDB_dbi = 0
            guard mdb_dbi_open(transaction, name, 0, &handle) == MDB_SUCCESS else { continue }
            mdb_drop(transaction, handle, 1)
        }
        try commit(transaction)
    }

    private func commit(_ transaction: OpaquePointer) throws(StorageError) {
        let number = UInt64(mdb_txn_id(transaction)), code = mdb_txn_commit(transaction)
        if code == MDB_SUCCESS { return }
        // Maps that are there are found at the next attempt.
        let failure = error(code, ofCommit: number)
        throw failure.code == .commitOutcomeUnknown ? error(code) : failure
    }
}
#endif
