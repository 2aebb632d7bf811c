/// A store whose write transactions can be prepared: kept by the engine, beyond their session and any crash, until they are told how they end.
///
/// Of two such stores that commit together one decides: the other is prepared under the name of the commit of the first, and ends as that
/// does.
public protocol PreparedCommitStorage: CommitOutcomeStorage {
    /// Whether the engine keeps prepared transactions as it is set up now; elsewhere `prepare` is `unsupported`.
    func keepsPreparedCommits() throws(StorageError) -> Bool

    /// The commits of other stores that transactions of this one are prepared for.
    func preparedCommits() throws(StorageError) -> [CommitToken]

    /// Ends the transaction that is prepared for a commit.
    ///
    /// *Behavior*: nothing happens where there is none: somebody else has ended it.
    func endPrepared(for commit: CommitToken, commits: Bool) throws(StorageError)
}

/// A write transaction that can be prepared, or that others can be prepared for.
public protocol PreparingWriter: StorageWriter {
    /// The token by which the outcome of the commit of this transaction can be asked for, before it has begun too.
    ///
    /// - Parameter record: That of the commit to come, with its time: an engine that can give a number again after a crash tells two commits
    ///   apart by it.
    func commitToken(for record: CommitRecord) throws(StorageError) -> CommitToken

    /// Does all that a commit does except to commit; the session ends. Nothing can refuse the commit any more.
    ///
    /// *Behavior*: `unsupported` where the engine does not keep prepared transactions; it says what would let it.
    /// - Returns: The token of the entry of the history that there is after the commit, or nil.
    func prepare(for commit: CommitToken, _ record: CommitRecord) throws(StorageError) -> HistoryToken?
}

extension WriteSession {
    /// The token by which the outcome of the commit of this transaction can be asked for; nil without the ability.
    public func commitToken(for record: CommitRecord) throws(StorageError) -> CommitToken? {
        try checkActive()
        return try ability((any PreparingWriter).self)?.commitToken(for: record)
    }

    /// Whether the transaction can be prepared.
    public var canPrepare: Bool { ability((any PreparingWriter).self) != nil }

    /// Does all that a commit does except to commit; the session ends.
    ///
    /// - Returns: The token of the entry of the history that there is after the commit, or nil.
    /// - Throws: `unsupported` where no prepared transactions are kept; what a commit throws.
    public func prepare(for commit: CommitToken, _ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        guard let writer = ability((any PreparingWriter).self) else {
            throw StorageError(.unsupported, "the store does not prepare transactions; write to it in a transaction of its own")
        }
        return try finish { () throws(StorageError) in try writer.prepare(for: commit, record) }
    }
}
