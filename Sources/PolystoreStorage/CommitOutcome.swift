/// The outcome of a commit.
public enum CommitOutcome: Sendable, Hashable {
    /// The commit succeeded and is permanent.
    case committed
    /// The commit did not happen and never will.
    case notCommitted
    /// The engine has not decided yet; ask again later.
    case inProgress
    /// The store no longer keeps the outcome of this commit.
    case unknown
}
