/// The changes of the source that one step of a live transfer has carried over.
public struct FollowedChanges: Sendable {
    /// The number of transactions.
    public internal(set) var transactions = 0
    /// The number of objects that were written or deleted.
    public internal(set) var objects = 0
    /// The age of the oldest of the transactions when the step began: how far the target was behind the source. Zero without transactions.
    public internal(set) var lag = Duration.zero
    /// The duration of the step.
    public internal(set) var duration = Duration.zero

    init() {}
}
