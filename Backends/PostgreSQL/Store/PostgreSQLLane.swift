#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A connection that holds the lock of the store's writers, shared or exclusively.
struct PostgreSQLLane {
    let core: PostgreSQLCore
    let connection: PostgreSQLConnection
    let isExclusive: Bool

    /// Takes the lock before the transaction begins, because a snapshot that is taken before waiting for the lock would be outdated.
    static func enter(
        _ core: PostgreSQLCore, _ connection: PostgreSQLConnection, _ options: WriteOptions
    ) throws(StorageError) -> PostgreSQLLane {
        if connection.isStandby {
            throw StorageError(.readOnly, "the server is a read-only standby; connect to the primary server")
        }
        let function = options.isExclusive ? "pg_advisory_lock" : "pg_advisory_lock_shared"
        // Read with the lock and outside the transaction, in which it would depend on all writers of notes.
        let move = core.hasMoveNote && !options.isMove ? "(SELECT value FROM polystore_notes WHERE name = '\(MoveNote.name)')" : "NULL"
        let found = try connection.texts(
            "SET lock_timeout = \(options.milliseconds); SELECT \(function)(\(core.lock)); SET lock_timeout = DEFAULT; SELECT pg_backend_pid(), "
                + "convert_from(\(move), 'UTF8')")
        try connection.checkBackend(found.first ?? nil)
        let lane = PostgreSQLLane(core: core, connection: connection, isExclusive: options.isExclusive)
        guard let note = found.last ?? nil else { return lane }
        _ = try connection.text(lane.unlocking)
        try MoveNote.refuse(Data(note.utf8))
        return lane
    }

    /// The statement that releases the lock; it returns true if the lock was held.
    private var unlocking: String { "SELECT \(isExclusive ? "pg_advisory_unlock" : "pg_advisory_unlock_shared")(\(core.lock))" }

    /// Runs a statement on a key sequence. A statement that raises a sequence reads it first, so other sessions must not take keys from it
    /// in between.
    ///
    /// The lock ends with the savepoint, whose rollback does not undo changes of a sequence.
    /// - Parameter isShared: Whether other sessions may run such statements at the same time.
    func changeKeys(isShared: Bool, _ step: PostgreSQLStep) throws(StorageError) -> PostgreSQLResult {
        let lock = "SELECT pg_advisory_xact_lock\(isShared ? "_shared" : "")(\(core.keyLock))"
        return try connection.pipeline([
            PostgreSQLStep("SAVEPOINT keys"), PostgreSQLStep(lock), step, PostgreSQLStep("ROLLBACK TO SAVEPOINT keys"),
            PostgreSQLStep("RELEASE SAVEPOINT keys"),
        ])[2]
    }

    /// Rolls back and releases the lock and the connection.
    func leave() {
        connection.abandonCopy()
        core.writers.give(connection) { connection throws(StorageError) in
            try connection.text("ROLLBACK; \(unlocking)") == "t"
        }
    }

    /// Commits, releases the lock in the same round trip, and then the connection. A limit cannot interrupt it.
    ///
    /// - Parameters:
    ///   - transaction: The ID of the transaction, by which its outcome can be queried; nil if it has written nothing.
    ///   - time: The time of its history entry; nil if it has none.
    /// - Throws: `commitOutcomeUnknown`, in which case the connection has been released. After any other error the caller must still call
    ///   `leave`.
    func commit(_ transaction: Int64?, time: Int64? = nil) throws(StorageError) {
        try connection.beginCommit()
        let (results, failure) = try connection.answers([PostgreSQLStep("COMMIT"), PostgreSQLStep(unlocking)])
        guard let answer = results.first else {
            let error = failure ?? connection.lost
            // The server may have committed before the connection broke.
            guard error.code == .connectionLost || connection.isLost else { throw error }
            core.writers.give(connection)
            let commit = transaction.map { PostgreSQLCommit(cluster: connection.cluster ?? "", transaction: $0, time: time) }
            throw StorageError(
                .commitOutcomeUnknown,
                "the connection to the server was lost during COMMIT, and its outcome is unknown; call outcome(of:) with the commit token "
                    + "of this error",
                details: .init(commit: commit.map { CommitToken(storeID: core.storeID, value: "\($0)") }), cause: error)
        }
        try answer.checkCommit()
        core.writers.give(connection) { _ in failure == nil && results.last?.integer(0, 0) == 1 }
    }
}

extension PostgreSQLResult {
    /// Throws unless the answer to COMMIT confirms the commit: the server answers with ROLLBACK if an earlier statement has failed.
    func checkCommit() throws(StorageError) {
        if command != "COMMIT" { throw StorageError(.storeClosed, "an earlier statement of the transaction failed; nothing was written") }
    }
}

extension WriteOptions {
    /// The time that a statement waits for a lock, at least one millisecond, because zero means no limit to the server.
    var milliseconds: Int { Int(max(min(timeout, limit?.secondsLeft ?? timeout), 0.001) * 1000) }
}

extension PostgreSQLConnection {
    /// Throws if a connection pooler serves the statements of one connection by several server processes: the lock of one process would not
    /// protect another.
    func checkBackend(_ process: String?) throws(StorageError) {
        if process == backend { return }
        giveUp()
        throw StorageError(.unsupported, PostgreSQLError.sharedBackend)
    }
}
#endif
