#if SQLite
internal import CSQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// Turns what SQLite reports into errors of the contract.
enum SQLiteError {
    /// The error of a result code of a connection; the engine's sentence is kept only where it holds no value and no path.
    static func error(_ code: Int32, _ connection: OpaquePointer?) -> StorageError {
        let message = connection.map { String(cString: sqlite3_errmsg($0)) } ?? ""
        let cause = Cause(code: code, message: message)
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED:
            return StorageError(.busy, "another connection holds the database; try again", cause: cause)
        case SQLITE_FULL: return StorageError(.diskFull, "there is no room left for the database; nothing was written", cause: cause)
        case SQLITE_NOTADB: return StorageError(.notADatabase, "the file is no SQLite database", cause: cause)
        case SQLITE_CORRUPT: return StorageError(.corrupted, "the database is damaged; restore a backup of it", cause: cause)
        case SQLITE_READONLY: return StorageError(.readOnly, "the database can only be read", cause: cause)
        case SQLITE_PERM, SQLITE_AUTH: return StorageError(.permissionDenied, "the database may not be used", cause: cause)
        case SQLITE_CANTOPEN: return StorageError(.notFound, "the database file cannot be opened", cause: cause)
        case SQLITE_IOERR: return StorageError(.inputOutput, "reading or writing the database failed", cause: cause)
        case SQLITE_TOOBIG: return StorageError(.valueTooLarge, "a value is larger than SQLite allows", cause: cause)
        case SQLITE_INTERRUPT: return StorageError(.cancelled, "the statement was interrupted", cause: cause)
        // A value of another program that has no form of ours: the sentence is that of `SQLiteForm`, and names the column alone.
        case SQLITE_MISMATCH: return StorageError(.valueNotStorable, message, cause: cause)
        case SQLITE_NOMEM: return StorageError(.limitExceeded, "SQLite ran out of memory", cause: cause)
        case SQLITE_ERROR where message.hasPrefix("no such ") || message.contains(" has no column named "):
            return SQLTables.changedByHand(message, cause)
        default: return StorageError(.inputOutput, "SQLite failed with code \(code)", cause: cause)
        }
    }

    /// What SQLite said, for those who dig.
    struct Cause: Error, Sendable {
        let code: Int32
        let message: String
    }
}
#endif
