#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreStorage

extension SQLiteConnection {
    /// Begins a transaction whose statements and waits end with a limit.
    func begin(_ sql: String, _ limit: WorkLimit?) throws(StorageError) {
        nonisolated(unsafe) let handle = handle
        waiting.limit = limit
        transaction = SQLiteTransaction(limit: limit)
        transaction?.interrupt = limit?.onEnd { sqlite3_interrupt(handle) }
        do throws(StorageError) {
            try limit?.check()
            try execute(sql)
            try checkPath()
        } catch {
            end()
            throw error
        }
    }

    /// Throws if the file was deleted or replaced.
    ///
    /// - Throws: `notFound`, because commits to the file would be lost.
    private func checkPath() throws(StorageError) {
        var hasMoved: Int32 = 0
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved) == SQLITE_OK, hasMoved != 0 else { return }
        throw SQLiteFileIdentity.moved
    }

    /// Throws if the engine has rolled back the transaction.
    @inline(__always)
    func checkTransaction() throws(StorageError) { if sqlite3_get_autocommit(handle) != 0 { throw rolledBack } }

    @inline(never)
    private var rolledBack: StorageError {
        transaction?.failure ?? StorageError(.storeClosed, "SQLite rolled the transaction back; nothing was written")
    }

    /// Commits the transaction. Its limit no longer applies.
    ///
    /// - Parameters:
    ///   - token: Returns the token of the commit, which is needed if the commit is in doubt; nil where the commit leaves no trace to
    ///     identify it by.
    ///   - explain: Returns the error of a result code.
    func commit(_ token: () -> CommitToken?, _ explain: (Int32) -> StorageError) throws(StorageError) {
        try checkTransaction()
        removeInterrupt()
        if let limitFailure { throw limitFailure }
        waiting.limit = nil
        let code = sqlite3_exec(handle, "COMMIT", nil, nil, nil)
        if code == SQLITE_OK { return }
        let error = explain(code), token = token()
        if !SQLiteError.leavesDoubt(code) { throw error }
        throw Self.inDoubt(token, error)
    }

    /// Returns the error of a commit during which the disk failed.
    static func inDoubt(_ token: CommitToken?, _ cause: StorageError) -> StorageError {
        StorageError(
            .commitOutcomeUnknown,
            "the disk failed during COMMIT, and the outcome of the transaction is unknown; "
                + (token == nil
                    ? "open the store again and check whether it contains the changes"
                    : "call outcome(of:) with the commit token of this error"),
            details: .init(commit: token), cause: cause)
    }

    /// Ends the transaction and everything that reads in it, unless it has already ended. The connection is then ready for the next
    /// transaction.
    func end() {
        removeInterrupt()
        waiting.limit = nil
        resetAll()
        if sqlite3_get_autocommit(handle) == 0 { sqlite3_exec(handle, "ROLLBACK", nil, nil, nil) }
        transaction = nil
    }

    private func removeInterrupt() {
        guard let number = transaction?.interrupt else { return }
        transaction?.limit?.removeInterrupt(number)
        transaction?.interrupt = nil
    }

    /// Records the error that made the engine roll back the transaction.
    func fail(_ error: StorageError) {
        if transaction?.failure == nil, sqlite3_get_autocommit(handle) != 0 { transaction?.failure = error }
    }

    /// The limit's error, if the limit is the reason that a statement of the transaction was interrupted or did not get a lock.
    var limitFailure: StorageError? {
        guard let limit = transaction?.limit else { return nil }
        do throws(StorageError) { try limit.check() } catch { return error }
        return nil
    }

    /// Returns the error of a result code. Every failing statement calls it.
    func error(_ code: Int32) -> StorageError {
        let primary = code & 0xff
        var error = SQLiteError.error(code, handle)
        if SQLiteError.lacksLog(code), !canMakeFiles {
            error = StorageError(
                .permissionDenied,
                "the database uses a write-ahead log, which requires a writable folder; open it once with write access to its folder, or "
                    + "use a backup, which is one file", cause: error)
        } else if error.code == .notFound {
            error = StorageError(
                .inputOutput, "a file next to the database cannot be opened; check the disk and try again", cause: error)
        }
        if primary == SQLITE_INTERRUPT || primary == SQLITE_BUSY, let limit = limitFailure { error = limit }
        if [SQLITE_IOERR, SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_CANTOPEN, SQLITE_NOMEM].contains(primary) { isSuspect = true }
        fail(error)
        return error
    }

    /// Whether files can be created beside the database.
    private var canMakeFiles: Bool {
        guard let path = sqlite3_db_filename(handle, "main") else { return true }
        return access(URL(fileURLWithPath: String(cString: path)).deletingLastPathComponent().path, W_OK) == 0
    }
}
#endif
