#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A translation of SQLite's errors to errors of the contract.
enum SQLiteError {
    /// Returns the error of a connection's result code. The engine's message is kept only where it contains no value and no path.
    static func error(_ code: Int32, _ connection: OpaquePointer?) -> StorageError {
        let message = connection.map { String(cString: sqlite3_errmsg($0)) } ?? ""
        let cause = Cause(code: code, message: message)
        if let failure = SQLiteResult.failure(code, message) { return StorageError(failure) }
        switch code & 0xff {
        case SQLITE_BUSY, SQLITE_LOCKED:
            return StorageError(.busy, "another connection has locked the database; try again", cause: cause)
        case SQLITE_FULL: return full(cause)
        case SQLITE_NOTADB, SQLITE_CORRUPT:
            // The engine reports a page that the system could not read as a damaged one.
            if let connection, failedReading(connection) { return failedInput(cause) }
            return code & 0xff == SQLITE_NOTADB
                ? StorageError(.notADatabase, "the file is not a SQLite database", cause: cause)
                : StorageError(.corrupted, "the database is damaged; restore it from a backup", cause: cause)
        case SQLITE_IOERR where code == SQLiteChecksums.mismatch:
            return StorageError(
                .corrupted, "the database is damaged: a page does not match its checksum; restore it from a backup", cause: cause)
        case SQLITE_READONLY: return StorageError(.readOnly, "the database is read-only", cause: cause)
        case SQLITE_PERM, SQLITE_AUTH:
            return StorageError(
                .permissionDenied, "permission to use the database was denied; check the permissions of its file", cause: cause)
        case SQLITE_CANTOPEN: return unopened(connection.map(sqlite3_system_errno) ?? 0, cause)
        case SQLITE_IOERR: return isFull(connection.map(sqlite3_system_errno) ?? 0) ? full(cause) : failedInput(cause)
        case SQLITE_TOOBIG: return StorageError(.valueTooLarge, "a value is larger than SQLite allows", cause: cause)
        case SQLITE_INTERRUPT: return StorageError(.cancelled, "the statement was interrupted", cause: cause)
        // A value of another program that has no form in Polystore: `SQLiteForm` wrote the message, which names only the column.
        case SQLITE_MISMATCH: return StorageError(.valueNotStorable, message, cause: cause)
        case SQLITE_NOMEM: return StorageError(.limitExceeded, "SQLite ran out of memory", cause: cause)
        case SQLITE_ERROR where message.hasPrefix("no such ") || message.contains(" has no column named "):
            return SQLTables.changedByHand(message, cause)
        default: return StorageError(.inputOutput, "SQLite failed with the code \(code)", cause: cause)
        }
    }

    private static func isFull(_ number: Int32) -> Bool { number == ENOSPC || number == EDQUOT }

    private static func full(_ cause: Cause) -> StorageError {
        StorageError(.diskFull, "no disk space is left for the database; nothing was written", cause: cause)
    }

    private static func failedInput(_ cause: Cause) -> StorageError {
        StorageError(.inputOutput, "reading or writing the database failed; check the disk and try again", cause: cause)
    }

    /// Returns the error for a file that cannot be opened, by the error number of the system.
    private static func unopened(_ number: Int32, _ cause: Cause) -> StorageError {
        switch number {
        case EMFILE, ENFILE:
            StorageError(
                .limitExceeded, "no file descriptors are left to open the database; close files or raise the limit (ulimit -n)",
                cause: cause)
        case EIO: failedInput(cause)
        case EACCES, EPERM, EROFS:
            StorageError(.permissionDenied, "permission to open the database file was denied; check its permissions", cause: cause)
        case _ where isFull(number): full(cause)
        default: StorageError(.notFound, "the database file cannot be opened", cause: cause)
        }
    }

    /// Whether the system could not read one of the files of a connection.
    private static func failedReading(_ connection: OpaquePointer) -> Bool {
        for pointer in [SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER] {
            var file: UnsafeMutablePointer<sqlite3_file>?, number: Int32 = 0
            guard sqlite3_file_control(connection, "main", pointer, &file) == SQLITE_OK, let file, let methods = file.pointee.pMethods,
                methods.pointee.xFileControl?(file, SQLITE_FCNTL_LAST_ERRNO, &number) == SQLITE_OK
            else { continue }
            if number == EIO { return true }
        }
        return false
    }

    /// Whether a COMMIT that failed with this code may have taken effect: a call failed after the last frame was written. A device that is
    /// removed can also report the write of that frame itself as failed after it was performed.
    static func leavesDoubt(_ code: Int32) -> Bool { [SQLITE_NOMEM, SQLITE_IOERR].contains(code & 0xff) }

    /// Whether a statement may have failed because a file beside the database does not exist and cannot be created:
    /// https://sqlite.org/rescode.html#readonly_cantinit, https://sqlite.org/rescode.html#readonly_directory
    static func lacksLog(_ code: Int32) -> Bool { code & 0xff == SQLITE_CANTOPEN || code == 8 | 5 << 8 || code == 8 | 6 << 8 }

    /// SQLite's own error, as the cause of an error of the contract.
    struct Cause: Error, Sendable {
        let code: Int32
        let message: String
    }
}
#endif
