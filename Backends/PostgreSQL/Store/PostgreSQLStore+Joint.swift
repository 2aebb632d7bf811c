#if PostgreSQL
public import PolystoreFoundation
internal import PolystoreSQL
public import PolystoreStorage

// A backend process completes a COMMIT even if its client is gone, and may wait for the disk or a standby. Until then it holds the locks of
// its transaction. A session that gets the lock by which a commit was announced therefore sees the commit, or the commit never happens.

extension PostgreSQLStore: AnnouncedCommitStorage {
    /// Waits for the locks by which commits were announced for a store.
    public func awaitCommits(for follower: UUID, _ options: WriteOptions) throws(StorageError) {
        try withHelper(options.limit, options.timeout) { connection, core throws(StorageError) in
            if connection.isStandby {
                throw StorageError(
                    .peerUnavailable,
                    "the server is a standby, which may not have all commits of the primary server yet; connect to the primary server")
            }
            try connection.execute(
                "BEGIN; SET LOCAL lock_timeout = \(options.milliseconds); "
                    + "SELECT pg_advisory_xact_lock_shared(\(core.joint(follower))); COMMIT")
        }
    }

    /// Runs a request on a connection separate from the readers', because a write transaction waits for the answer.
    private func withHelper<R>(
        _ limit: WorkLimit? = nil, _ timeout: TimeInterval = 30, _ body: (PostgreSQLConnection, PostgreSQLCore) throws(StorageError) -> R
    ) throws(StorageError) -> R {
        let core = try opened()
        let (connection, result) = try core.helpers.begin(limit, timeout: timeout) { connection throws(StorageError) in
            (connection, try body(connection, core))
        }
        core.helpers.give(connection)
        return result
    }
}

extension PostgreSQLStore: SynchronizingStorage {
    /// Waits for the server's log by a commit that waits for it. With `x-durability=relaxed` other commits do not wait.
    public func synchronize() throws(StorageError) {
        if durability == .full { return }
        try withHelper { connection, _ throws(StorageError) in
            try connection.execute(
                "BEGIN READ WRITE; SET LOCAL synchronous_commit = on; SELECT pg_logical_emit_message(true, 'polystore', ''); COMMIT")
        }
    }
}

extension PostgreSQLCore {
    /// Returns the advisory lock by which commits are announced for another store.
    fileprivate func joint(_ follower: UUID) -> Int64 {
        Int64(bitPattern: SchemaHash(of: "polystore joint \(storeID.uuidString) \(follower.uuidString)").words[0])
    }
}

extension PostgreSQLReader {
    /// Takes a lock that ends with the transaction, before COMMIT is sent.
    final func announceCommit(for follower: UUID) throws(StorageError) {
        try checkOpen()
        try connection.execute("SELECT pg_advisory_xact_lock(\(core.joint(follower)))")
    }
}

// MARK: Prepared transactions

extension PostgreSQLStore: PreparedCommitStorage {
    /// Returns whether the server's `max_prepared_transactions` is above 0 and the tables are Polystore's own.
    public func keepsPreparedCommits() throws(StorageError) -> Bool {
        if !owner.isPolystore { return false }
        return try withHelper { connection, _ throws(StorageError) in try connection.text("SHOW max_prepared_transactions") != "0" }
    }

    /// Returns the commits of this store's transactions in the server's list of prepared transactions.
    public func preparedCommits() throws(StorageError) -> [CommitToken] {
        if !owner.isPolystore { return [] }
        return try withHelper { connection, core throws(StorageError) in
            let names = try connection.text(
                "SELECT string_agg(gid, ' ' ORDER BY gid) FROM pg_prepared_xacts WHERE database = current_database() AND starts_with(gid, "
                    + "\(PostgreSQLPreparedName.start(of: core.storeID)))")
            return (names ?? "").split(separator: " ").compactMap { PostgreSQLPreparedName(String($0))?.commit }
        }
    }

    /// Commits or rolls back a prepared transaction, and notifies listeners, because a prepared transaction cannot notify.
    public func endPrepared(for commit: CommitToken, commits: Bool) throws(StorageError) {
        try withHelper { connection, core throws(StorageError) in
            let name = try connection.prepared(store: core.storeID, commit: commit)
            if !commits { return try connection.endPrepared(name.map { [PostgreSQLStep("ROLLBACK PREPARED \($0.literal)")] } ?? []) }
            let telling = PostgreSQLStep(PostgreSQLTelling.telling(schema, isRecorded: name?.isRecorded ?? false))
            // Both statements are sent together, so that the server runs both even if this program dies now. A program that finds the
            // transaction committed notifies as well, because the program that committed it may not have got that far.
            try connection.endPrepared(name.map { [PostgreSQLStep("COMMIT PREPARED \($0.literal)"), telling] } ?? [telling])
        }
    }
}

extension PostgreSQLConnection {
    func prepareTransaction(_ name: PostgreSQLPreparedName) throws(StorageError) {
        do throws(StorageError) {
            try execute("PREPARE TRANSACTION \(name.literal)")
        } catch  where error.sqlState == "55000" {
            throw StorageError(
                .unsupported,
                "one transaction wrote to two servers, and one of them does not support prepared transactions: set its "
                    + "max_prepared_transactions, or write to them in separate transactions", cause: error)
        } catch  where error.sqlState == "53200" {
            throw StorageError(
                .busy, "one of the servers has reached its max_prepared_transactions; try again, or raise it",
                cause: error)
        }
    }

    /// Returns the name of the transaction that waits for a commit, or nil if it has ended.
    fileprivate func prepared(store: UUID, commit: CommitToken) throws(StorageError) -> PostgreSQLPreparedName? {
        let names = [true, false].map { PostgreSQLPreparedName(store: store, commit: commit, isRecorded: $0).literal }
        return try text("SELECT gid FROM pg_prepared_xacts WHERE gid IN (\(names.joined(separator: ", ")))")
            .flatMap(PostgreSQLPreparedName.init)
    }

    /// Ends a transaction by the first statement, unless it has ended in the meantime. The other statements are sent together with it.
    fileprivate func endPrepared(_ steps: [PostgreSQLStep]) throws(StorageError) {
        let (results, failure) = try answers(steps)
        guard results.isEmpty, let failure else { return }
        do throws(StorageError) {
            throw failure
        } catch  where error.sqlState == "42704" {
            // Another program has ended it.
        } catch  where ["55000", "55006"].contains(error.sqlState) {
            throw StorageError(.busy, "another session is preparing or ending the transaction; try again", cause: error)
        }
    }
}

extension StorageError {
    fileprivate var sqlState: String? { (cause as? PostgreSQLError.Cause)?.state }
}

extension PostgreSQLWriter: CommitAnnouncingWriter, PreparingWriter {
    func commitToken(for record: CommitRecord) throws(StorageError) -> CommitToken {
        try checkOpen()
        let isRecorded = core.metadata.history.isOn && !recorder.encode().isEmpty
        let transaction = try connection.text("SELECT pg_current_xact_id()::text").flatMap { Int64($0) } ?? 0
        let commit = PostgreSQLCommit(cluster: connection.cluster ?? "", transaction: transaction, time: isRecorded ? record.time : nil)
        return CommitToken(storeID: core.storeID, value: "\(commit)")
    }
}

extension PostgreSQLInPlaceWriter: CommitAnnouncingWriter {}
#endif
