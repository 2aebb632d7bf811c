#if LMDB
internal import CLMDB
internal import PolystoreStorage

extension LMDBEnvironment {
    /// Opens maps by their names. If all exist, it uses a read transaction, so that it need not wait for another writer.
    ///
    /// *Requires*: no open session could open maps at the same time.
    /// - Parameter create: Whether missing maps are created.
    func handles(_ names: [String], create: Bool) throws(StorageError) -> [MDB_dbi] {
        if let found = try existing(names) { return found }
        guard create else { throw StorageError(.notADatabase, "the LMDB file contains no Polystore data") }
        let writing = try beginWrite(WriteOptions())
        defer { endWrite() }
        if names.contains(Self.metadata), belongsToAnotherProgram(writing) {
            mdb_txn_abort(writing)
            throw StorageError(.notADatabase, "the LMDB file belongs to another program: it has no Polystore metadata")
        }
        guard let made = try handles(names, writing, UInt32(MDB_CREATE)) else { throw LMDBError.error(MDB_NOTFOUND) }
        return made
    }

    /// The map that each store has.
    private static let metadata = "polystore_metadata"

    /// Whether the file has data, but not the metadata of a store. A new store creates the maps of its own in one transaction.
    private func belongsToAnotherProgram(_ transaction: OpaquePointer) -> Bool {
        // The map without a name has the names of all others as its keys.
        var names: MDB_dbi = 0, stat = MDB_stat(), metadata: MDB_dbi = 0
        guard mdb_dbi_open(transaction, nil, 0, &names) == MDB_SUCCESS, mdb_stat(transaction, names, &stat) == MDB_SUCCESS
        else { return false }
        return stat.ms_entries > 0 && mdb_dbi_open(transaction, Self.metadata, 0, &metadata) != MDB_SUCCESS
    }

    /// The handle of a map that does not exist. LMDB refuses it.
    static let noMap = MDB_dbi.max

    /// Opens the existing maps; returns `noMap` for the others, and for nil.
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

    /// Opens maps in a transaction and ends it, because a rollback would close their handles. Returns nil if a map is missing.
    private func handles(_ names: [String], _ transaction: OpaquePointer, _ flags: UInt32) throws(StorageError) -> [MDB_dbi]? {
        var handles: [MDB_dbi] = []
        for name in names {
            var handle: MDB_dbi = 0, kind: UInt32 = 0
            var code = mdb_dbi_open(transaction, name, flags, &handle)
            if code == MDB_SUCCESS { code = mdb_dbi_flags(transaction, handle, &kind) }
            // The maps of a store are in byte order and have unique keys.
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

    /// Returns whether the file has data besides these maps. Empty maps are none: an interrupted migration leaves such ones.
    ///
    /// *Requires*: no open session could open maps at the same time.
    func hasData(besides names: Set<String>) throws(StorageError) -> Bool {
        let others = try reading { transaction throws(StorageError) in try allNames(transaction).filter { !names.contains($0) } }
        for name in others {
            // In a transaction of its own, whose end gives the handle back: there are only as many as the store has maps.
            let hasData = try reading { transaction throws(StorageError) in
                var map: MDB_dbi = 0, stat = MDB_stat()
                let code = mdb_dbi_open(transaction, name, 0, &map)
                // The entry is not a map, or its name is not a text.
                if code == MDB_INCOMPATIBLE || code == MDB_NOTFOUND { return true }
                try LMDBError.check(code)
                try LMDBError.check(mdb_stat(transaction, map, &stat))
                return stat.ms_entries > 0
            }
            if hasData { return true }
        }
        return false
    }

    /// Returns the names of all maps, and other keys beside them.
    private func allNames(_ transaction: OpaquePointer) throws(StorageError) -> [String] {
        // The map without a name has the names of all others as its keys.
        var all: MDB_dbi = 0, cursor: OpaquePointer?, key = MDB_val(), value = MDB_val(), names: [String] = []
        try LMDBError.check(mdb_dbi_open(transaction, nil, 0, &all))
        try LMDBError.check(mdb_cursor_open(transaction, all, &cursor))
        defer { mdb_cursor_close(cursor) }
        while true {
            let code = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
            if code == MDB_NOTFOUND { return names }
            try LMDBError.check(code)
            names.append(String(decoding: UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size), as: UTF8.self))
        }
    }

    private func reading<R>(_ body: (OpaquePointer) throws(StorageError) -> R) throws(StorageError) -> R {
        let transaction = try beginRead(nil)
        defer {
            mdb_txn_abort(transaction)
            endRead()
        }
        return try body(transaction)
    }

    /// Removes maps. Names without a map are ignored.
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
        // The next attempt finds the maps that still exist.
        let failure = error(code, ofCommit: number)
        throw failure.code == .commitOutcomeUnknown ? error(code) : failure
    }
}
#endif
