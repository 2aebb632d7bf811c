/// The backlog of unsettled history entries: entries that a session sees but `history` withholds, because an entry with a lower token may
/// still appear.
public struct HistoryLag: Sendable, Hashable {
    /// The number of entries that `history` does not return yet.
    public let entries: Int
    /// The time of the oldest of these entries, in microseconds since 1970, or nil if there is none.
    public let oldest: Int64?

    /// Creates a lag, by default without entries.
    public init(entries: Int = 0, oldest: Int64? = nil) {
        self.entries = entries
        self.oldest = oldest
    }
}
