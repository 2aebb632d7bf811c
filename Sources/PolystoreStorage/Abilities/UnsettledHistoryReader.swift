/// A session of a store whose tokens are not in the order of the commits.
///
/// `history` does not give an entry as long as one with a lower token may still appear.
public protocol UnsettledHistoryReader: HistoryReader {
    /// Whether the history has entries that `history` does not give yet.
    func hasUnsettledHistory() throws(StorageError) -> Bool

    /// The tokens of such entries that the session sees.
    func unsettledTokens() throws(StorageError) -> [HistoryToken]

    /// How many such entries there are, and since when: what is to be watched where others write.
    func historyLag() throws(StorageError) -> HistoryLag
}

extension ReadSession {
    /// Whether the history has entries that `history` does not give yet, because one with a lower token may still appear.
    public final func hasUnsettledHistory() throws(StorageError) -> Bool {
        try checkActive()
        return try unsettledHistories.find(in: reader)?.hasUnsettledHistory() ?? false
    }

    /// The tokens of such entries that the session sees.
    public final func unsettledTokens() throws(StorageError) -> [HistoryToken] {
        try checkActive()
        return try unsettledHistories.find(in: reader)?.unsettledTokens() ?? []
    }

    /// How many such entries there are, and since when.
    public final func historyLag() throws(StorageError) -> HistoryLag {
        try checkActive()
        return try unsettledHistories.find(in: reader)?.historyLag() ?? HistoryLag()
    }
}
