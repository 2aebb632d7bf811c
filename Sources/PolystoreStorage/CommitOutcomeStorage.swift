/// A store that can report the outcome of a commit that failed with `commitOutcomeUnknown`.
public protocol CommitOutcomeStorage: StorageInterface {
    /// Returns the outcome of a commit.
    ///
    /// *Requires*: the token belongs to this store (`details.commit` of a `commitOutcomeUnknown`).
    ///
    /// *Behavior*: a result of `committed` or `notCommitted` never changes.
    ///
    /// - Throws: `notFound` for the token of another store.
    func outcome(of token: CommitToken) throws(StorageError) -> CommitOutcome
}
