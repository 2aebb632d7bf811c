#if LMDB
internal import CLMDB
internal import Foundation
internal import PolystoreStorage

/// Opens environments of LMDB.
enum LMDBHandle {
    /// The least map that is tried where the address space does not allow a larger one.
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

    private static func open(
        _ path: String, _ size: Int, _ flags: UInt32, _ mapCount: Int, _ mode: mdb_mode_t
    ) -> (Int32, OpaquePointer?) {
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
