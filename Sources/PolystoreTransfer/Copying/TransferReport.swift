/// The result of a transfer.
public struct TransferReport: Sendable {
    /// The digests of what was copied, of all hierarchies and then of all link tables.
    public internal(set) var items: [TransferItem] = []
    /// Whether the target contained everything from an earlier run with the same options, so that nothing was copied.
    public internal(set) var wasComplete = false
    /// The number of rows and pairs that an earlier, interrupted run had copied.
    public internal(set) var continued = 0
    /// The number of references that are nil in the copy because their destination was not copied, by relationship of the source.
    public internal(set) var removedReferences: [String: Int] = [:]
    /// The number of members of to-many relationships that were left out because only one of the two objects was copied, by relationship of
    /// the source.
    public internal(set) var omittedMembers: [String: Int] = [:]
    /// The number of values for which the copy has the nearest value of another type, or nil, by attribute of the source.
    public internal(set) var changedValues: [String: Int] = [:]
    /// The digest of the transactions of the history that the copy has; nil if they were not to be copied, or could not be.
    public internal(set) var history: Digest?
    /// The reason why the copy lacks the history although it was to be copied; nil if there is none.
    public internal(set) var historyObstacle: String?

    /// The rows that were left out, which the comparison with the source does not include.
    public internal(set) var rejected: [RejectedRow] = []
    /// The time for which the copy waited because of its pace.
    public internal(set) var waited = Duration.zero

    /// The number of rows that were left out, by entity of the target.
    public var rejectedCounts: [String: Int] { Dictionary(rejected.map { ($0.entity, 1) }, uniquingKeysWith: +) }

    /// Whether the copy was compared with the source.
    public internal(set) var isVerified = false

    init() {}
}
