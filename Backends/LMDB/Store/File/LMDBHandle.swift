#if LMDB
internal import CLMDB
internal import PolystoreFoundation
internal import PolystoreStorage

/// The functions that open environments of LMDB.
enum LMDBHandle {
    /// The minimum map size to try if the address space does not allow a larger one.
    private static let leastMap = 1 << 26

    /// Opens an environment with the largest map from `firstMap` down that the address space allows.
    static func open(
        _ path: String, _ flags: UInt32, firstMap: Int, mapCount: Int, mode: mdb_mode_t
    ) throws(StorageError) -> (handle: OpaquePointer, mapSize: Int) {
        var size = firstMap
        while true {
            let (code, opened) = open(path, size, flags, mapCount, mode)
            if let opened { return (opened, size) }
            guard code == ENOMEM, size > leastMap else { throw LMDBError.error(code) }
            size = max(size / 4, leastMap)
        }
    }

    static let otherLock = StorageError(
        .busy,
        "the lock file of the LMDB store belongs to another file, or another process uses another lock file; close all programs that use "
            + "it, and open the store again")
    /// The maximum number of attempts to read the number of the newest snapshot because other processes commit.
    private static let attempts = 200

    /// Returns whether readers have a slot in the lock file. On a read-only file system LMDB continues without one.
    ///
    /// *Requires*: no transaction is open.
    /// - Throws: `busy` if the newest snapshot according to the lock file is not in the data file.
    static func isRegistering(_ handle: OpaquePointer, _ file: LMDBFile) throws(StorageError) -> Bool {
        for _ in 0..<attempts {
            let before = try LMDBMeta.pair(file).newest.transaction
            var transaction: OpaquePointer?, info = MDB_envinfo()
            let code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
            // The next session clears the slots of dead readers, and adopts the size of the map.
            if code == MDB_READERS_FULL || code == MDB_MAP_RESIZED { return true }
            try LMDBError.check(code)
            mdb_env_info(handle, &info)
            let number = UInt64(mdb_txn_id(transaction))
            mdb_txn_abort(transaction)
            // A writer that has just ended, or died while ending, has not recorded its number yet.
            if info.me_numreaders == 0 { return false }
            if number + 1 >= before, try number <= LMDBMeta.pair(file).newest.transaction { return true }
            usleep(1000)
        }
        throw otherLock
    }

    private static func open(
        _ path: String, _ size: Int, _ flags: UInt32, _ mapCount: Int, _ mode: mdb_mode_t
    ) -> (Int32, OpaquePointer?) {
        StandardStreams.reserve()
        var environment: OpaquePointer?
        var code = mdb_env_create(&environment)
        if code == MDB_SUCCESS { code = mdb_env_set_maxdbs(environment, UInt32(mapCount + 8)) }
        if code == MDB_SUCCESS { code = mdb_env_set_maxreaders(environment, 510) }
        if code == MDB_SUCCESS { code = mdb_env_set_mapsize(environment, size) }
        if code == MDB_SUCCESS { code = mdb_env_open(environment, path, flags, mode) }
        if code == MDB_SUCCESS { return (code, environment) }
        if let environment { mdb_env_close(environment) }
        return (code, nil)
    }
}
#endif
