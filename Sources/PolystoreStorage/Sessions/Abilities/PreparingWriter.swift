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
