public import PolystoreFoundation

/// The options of a write transaction.
public struct WriteOptions: Sendable {
    /// The number of seconds to wait for the write lock: from 0, which also replaces NaN, to 2,000,000, the highest value that all engines
    /// accept.
    public var timeout: TimeInterval { didSet { timeout = Self.bounded(timeout) } }
    /// Whether no other writer may run at the same time. The last attempt of a transaction that met conflicts sets it.
    public var isExclusive: Bool
    /// The part that the transaction has in a bulk load, so that the engine can prepare for large amounts of data. Nil if there is none.
    public var bulk: BulkLoad?
    /// Whether an observer needs the changes of the transaction, so that `recordedChanges` is required even from a store that keeps no
    /// history.
    public var isFollowed: Bool
    /// The limit after which the transaction must give up, even in the middle of a statement, until its commit has begun. Nil for no limit.
    public var limit: WorkLimit?
    /// Whether the transaction moves the objects of the store to another one, or brings them back. All others are refused meanwhile.
    package var isMove = false
    /// Whether other transactions of the same bulk load run at the same time. Only for stores that are a `ConcurrentLoadStorage`.
    package var sharesLoad = false

    /// Creates options. The timeout is no longer than the remaining time of the limit.
    public init(
        timeout: TimeInterval = 30, isExclusive: Bool = false, bulk: BulkLoad? = nil, isFollowed: Bool = false, limit: WorkLimit? = nil
    ) {
        self.timeout = Self.bounded(min(timeout, limit?.secondsLeft ?? timeout))
        self.isExclusive = isExclusive
        self.bulk = bulk
        self.isFollowed = isFollowed
        self.limit = limit
    }

    private static func bounded(_ timeout: TimeInterval) -> TimeInterval { timeout.isNaN ? 0 : min(max(timeout, 0), 2_000_000) }
}
