/// A committed transaction in the history.
public struct HistoryEntry: Sendable, Hashable {
    /// The position of the transaction in the history.
    public let token: HistoryToken
    /// The time of the commit, in microseconds since 1970.
    public let time: Int64
    /// The author that the program gave.
    public let author: String
    /// The changes: one for each object, and one for each owner and link table, in the order in which they were first applied.
    ///
    /// An object that was inserted and deleted in the same transaction is not included.
    public let changes: HistoryChanges

    /// Creates an entry.
    public init(token: HistoryToken, time: Int64, author: String, changes: HistoryChanges) {
        self.token = token
        self.time = time
        self.author = author
        self.changes = changes
    }
}
