/// A store whose write transactions can be prepared. The engine keeps a prepared transaction beyond its session and any crash, until it is
/// ended explicitly.
///
/// If two such stores commit together, one of them decides: the other one is prepared under the token of the first one's commit, and ends
/// in the same way as that commit.
package protocol PreparedCommitStorage: CommitOutcomeStorage {
    /// Returns whether the engine, as currently configured, keeps prepared transactions. Otherwise `prepare` throws `unsupported`.
    func keepsPreparedCommits() throws(StorageError) -> Bool

    /// Returns the commits of other stores for which transactions of this store are prepared.
    func preparedCommits() throws(StorageError) -> [CommitToken]

    /// Commits or rolls back the transaction that is prepared for a commit.
    ///
    /// *Behavior*: does nothing if there is no such transaction, because another session or process has ended it.
    func endPrepared(for commit: CommitToken, commits: Bool) throws(StorageError)
}

/// A write transaction that can be prepared, or for which transactions of other stores can be prepared.
package protocol PreparingWriter: StorageWriter {
    /// Returns the token by which the outcome of this transaction's commit can be requested, even before the commit has begun.
    ///
    /// - Parameter record: The record of the future commit, including its time. An engine that can assign the same number again after a
    ///   crash uses the time to distinguish two commits.
    func commitToken(for record: CommitRecord) throws(StorageError) -> CommitToken

    /// Performs all parts of a commit except the commit itself, and ends the session. Afterwards nothing can refuse the commit.
    ///
    /// *Behavior*: throws `unsupported` if the engine does not keep prepared transactions. The message states which setting enables them.
    /// - Returns: The token that the history entry has after the commit, or nil.
    func prepare(for commit: CommitToken, _ record: CommitRecord) throws(StorageError) -> HistoryToken?
}

extension WriteSession {
    /// Returns the token by which the outcome of this transaction's commit can be requested, or nil without the ability.
    public func commitToken(for record: CommitRecord) throws(StorageError) -> CommitToken? {
        try checkActive()
        return try ability((any PreparingWriter).self)?.commitToken(for: record)
    }

    /// Whether the transaction can be prepared.
    public var canPrepare: Bool { ability((any PreparingWriter).self) != nil }

    /// Performs all parts of a commit except the commit itself, and ends the session.
    ///
    /// - Returns: The token that the history entry has after the commit, or nil.
    /// - Throws: `unsupported` if the store keeps no prepared transactions; any error of a commit.
    public func prepare(for commit: CommitToken, _ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        guard let writer = ability((any PreparingWriter).self) else {
            throw StorageError(.unsupported, "the store does not support prepared transactions; write to it in a separate transaction")
        }
        return try finish { () throws(StorageError) in try writer.prepare(for: commit, record) }
    }
}
