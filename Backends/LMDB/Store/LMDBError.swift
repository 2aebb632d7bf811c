#if LMDB
internal import CLMDB
internal import Foundation
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
                .diskFull, "the map of the LMDB store is full; open it with a larger mapsize. Nothing was written", cause: cause)
        case MDB_INVALID, MDB_VERSION_MISMATCH: return StorageError(.notADatabase, "the file is no LMDB database", cause: cause)
        case MDB_CORRUPTED, MDB_PAGE_NOTFOUND: return StorageError(.corrupted, "the LMDB file is damaged; restore it", cause: cause)
        case MDB_READERS_FULL: return StorageError(.busy, "too many reads are open; end some", cause: cause)
        case MDB_TXN_FULL: return StorageError(.limitExceeded, "the transaction changes too many pages; commit in parts", cause: cause)
        case MDB_MAP_RESIZED: return StorageError(.busy, "another process made the LMDB map larger; open the store again", cause: cause)
        case ENOSPC: return StorageError(.diskFull, "there is no room left for the LMDB file; nothing was written", cause: cause)
        case EACCES, EPERM: return StorageError(.permissionDenied, "the LMDB file may not be used", cause: cause)
        case EROFS: return StorageError(.readOnly, "the LMDB file can only be read", cause: cause)
        case ENOENT: return StorageError(.notFound, "there is no LMDB store at this path", cause: cause)
        case EMFILE, ENFILE:
            return StorageError(.busy, "there is no free file descriptor; close files or connections and try again", cause: cause)
        case MDB_BAD_TXN:
            return StorageError(.inputOutput, "an earlier step of the transaction failed; it can only be rolled back", cause: cause)
        case EIO: return StorageError(.inputOutput, "reading or writing the LMDB file failed", cause: cause)
        default: return StorageError(.inputOutput, "LMDB failed with code \(code)", cause: cause)
        }
    }

    static func check(_ code: Int32) throws(StorageError) { if code != MDB_SUCCESS { throw error(code) } }
}
#endif
