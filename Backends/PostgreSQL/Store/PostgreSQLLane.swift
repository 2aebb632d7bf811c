#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// A connection that holds the lock of the store's writers, alone or with others.
struct PostgreSQLLane {
    let core: PostgreSQLCore
    let connection: PostgreSQLConnection
    let isExclusive: Bool

    /// Takes the lock, before the transaction begins: a snapshot taken while waiting for it would be old.
    static func enter(
        _ core: PostgreSQLCore, _ connection: PostgreSQLConnection, _ options: WriteOptions
    ) throws(StorageError) -> PostgreSQLLane {
        if connection.isStandby {
            throw StorageError(.readOnly, "the server follows another one and takes no changes; connect to the one that it follows")
        }
        let function = options.isExclusive ? "pg_advisory_lock" : "pg_advisory_lock_shared"
        let backend = try connection.text(
            "SET lock_timeout = \(options.milliseconds); SELECT \(function)(\(core.lock)); SET lock_timeout = 0; SELECT pg_backend_pid()")
        try connection.checkBackend(backend)
        return PostgreSQLLane(core: core, connection: connection, isExclusive: options.isExclusive)
    }

    /// Gives the lock back; true where it was held.
    private var unlocking: String { "SELECT \(isExclusive ? "pg_advisory_unlock" : "pg_advisory_unlock_shared")(\(core.lock))" }

    /// Runs a statement on a key sequence. Who raises one looks at it first, so that others must not take keys from it in between.
    ///
    /// The lock ends with the savepoint; what becomes of a sequence is not undone with it.
    /// - Parameter isShared: Whether others may do the same at once.
    func changeKeys(isShared: Bool, _ step: PostgreSQLStep) throws(StorageError) -> PostgreSQLResult {
        let lock = "SELECT pg_advisory_xact_lock\(isShared ? "_shared" : "")(\(core.keyLock))"
        return try connection.pipeline([
            PostgreSQLStep("SAVEPOINT keys"), PostgreSQLStep(lock), step, PostgreSQLStep("ROLLBACK TO SAVEPOINT keys"),
            PostgreSQLStep("RELEASE SAVEPOINT keys"),
        ])[2]
    }

    /// Rolls back and gives lock and connection back.
    func leave() {
        connection.abandonCopy()
        core.writers.give(connection) { connection throws(StorageError) in
            try connection.text("ROLLBACK; \(unlocking)") == "t"
        }
    }

    /// Commits, gives the lock back in the same round trip, and then the connection. Nothing interrupts it.
    ///
    /// - Parameters:
    ///   - transaction: The id of the transaction, by which its outcome can be asked for; nil where it has written nothing.
    ///   - time: The time of its entry of the history; nil where it has none.
    /// - Throws: `commitOutcomeUnknown`; then the connection was given back. Otherwise `leave` has still to be called.
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
                .commitOutcomeUnknown, "the connection was lost during COMMIT; whether it happened can be asked with the token",
                details: .init(commit: commit.map { CommitToken(storeID: core.storeID, value: "\($0)") }), cause: error)
        }
        try answer.checkCommit()
        core.writers.give(connection) { _ in failure == nil && results.last?.integer(0, 0) == 1 }
    }
}

extension PostgreSQLResult {
    /// Makes sure that the answer to COMMIT is that it happened: the server answers with ROLLBACK where an earlier statement had failed.
    func checkCommit() throws(StorageError) {
        if command != "COMMIT" { throw StorageError(.storeClosed, "the transaction had failed before; nothing was written") }
    }
}

extension WriteOptions {
    /// How long a statement waits for a lock; at least one, because zero is no limit for the server.
    var milliseconds: Int { Int(max(min(timeout, limit?.secondsLeft ?? timeout), 0.001) * 1000) }
}

extension PostgreSQLConnection {
    /// Refuses a pool that serves statements of one connection by several processes: the lock of one would not protect the other.
    func checkBackend(_ process: String?) throws(StorageError) {
        if process == backend { return }
        giveUp()
        throw StorageError(.unsupported, PostgreSQLError.sharedBackend)
    }
}
#endif
