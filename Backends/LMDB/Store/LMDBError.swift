#if LMDB
internal import CLMDB
internal import PolystoreFoundation
internal import PolystoreStorage

/// A translation of LMDB's errors to errors of the contract.
enum LMDBError {
    /// LMDB's own error, as the cause of an error of the contract.
    struct Cause: Error, Sendable {
        let code: Int32
        let message: String
    }

    /// Returns the error of a result code.
    static func error(_ code: Int32) -> StorageError {
        let cause = Cause(code: code, message: String(cString: mdb_strerror(code)))
        switch code {
        case MDB_MAP_FULL:
            return StorageError(
                .diskFull, "the map of the LMDB store is full, and nothing was written; open it with a larger mapsize", cause: cause)
        case MDB_INVALID, MDB_VERSION_MISMATCH: return StorageError(.notADatabase, "the file is not an LMDB database", cause: cause)
        case MDB_CORRUPTED, MDB_PAGE_NOTFOUND:
            return StorageError(.corrupted, "the LMDB file is damaged; restore it from a backup", cause: cause)
        case MDB_READERS_FULL:
            return StorageError(.busy, "too many read sessions of the LMDB store are open; end some and try again", cause: cause)
        case MDB_TXN_FULL:
            return StorageError(.limitExceeded, "the transaction changes too many pages; split it into several commits", cause: cause)
        case MDB_MAP_RESIZED: return StorageError(.busy, "another process enlarged the LMDB map; open the store again", cause: cause)
        case ENOSPC: return StorageError(.diskFull, "no disk space is left for the LMDB file; nothing was written", cause: cause)
        case EACCES, EPERM:
            return StorageError(.permissionDenied, "permission to use the LMDB file was denied; check its permissions", cause: cause)
        case EROFS: return StorageError(.readOnly, "the LMDB file is on a read-only file system", cause: cause)
        case ENOENT: return StorageError(.notFound, "there is no LMDB store at this path", cause: cause)
        case ELOOP, ENAMETOOLONG:
            return StorageError(
                .invalidConfiguration, "the path of the LMDB file is too long, or its symbolic links form a loop", cause: cause)
        case EMFILE, ENFILE:
            return StorageError(.busy, "no file descriptors are left; close files or connections and try again", cause: cause)
        case MDB_BAD_TXN:
            return StorageError(.inputOutput, "an earlier step of the transaction failed; it can only be rolled back", cause: cause)
        case EIO: return StorageError(.inputOutput, "reading or writing the LMDB file failed; check the disk and try again", cause: cause)
        default: return StorageError(.inputOutput, "LMDB failed with the code \(code)", cause: cause)
        }
    }

    static func check(_ code: Int32) throws(StorageError) { if code != MDB_SUCCESS { throw error(code) } }
}
#endif
