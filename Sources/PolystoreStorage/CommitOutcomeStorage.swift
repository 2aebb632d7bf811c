/// A store that can report the outcome of a commit that failed with `commitOutcomeUnknown`.
public protocol CommitOutcomeStorage: StorageInterface {
    /// Returns the outcome of a commit.
    ///
    /// *Requires*: the token belongs to this store (`details.commit` of a `commitOutcomeUnknown`).
    ///
    /// *Behavior*: a result of `committed` or `notCommitted` never changes.
    ///
    /// - Parameters:
    ///   - token: The token of the commit.
    ///   - limit: The limit after which the request must give up; nil for no limit but that of a write transaction.
    /// - Throws: `notFound` for the token of another store; `cancelled` or `timeout` by the limit.
    func outcome(of token: CommitToken, limit: WorkLimit?) throws(StorageError) -> CommitOutcome
}

extension CommitOutcomeStorage {
    /// Returns the outcome of a commit, without a limit.
    public func outcome(of token: CommitToken) throws(StorageError) -> CommitOutcome { try outcome(of: token, limit: nil) }
}
