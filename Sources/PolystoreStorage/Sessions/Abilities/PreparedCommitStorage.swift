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
