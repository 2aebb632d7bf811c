/// A session of a store whose tokens are not in commit order.
///
/// `history` withholds an entry as long as an entry with a lower token may still appear. Such an entry is unsettled.
public protocol UnsettledHistoryReader: HistoryReader {
    /// Returns whether the history has unsettled entries, which `history` does not return yet.
    func hasUnsettledHistory() throws(StorageError) -> Bool

    /// Returns the tokens of the unsettled entries that the session sees.
    func unsettledTokens() throws(StorageError) -> [HistoryToken]

    /// Returns the number and the age of the unsettled entries. Applications with several writers should monitor it.
    func historyLag() throws(StorageError) -> HistoryLag
}

extension ReadSession {
    /// Returns whether the history has unsettled entries, which `history` does not return yet because an entry with a lower token may still
    /// appear.
    public final func hasUnsettledHistory() throws(StorageError) -> Bool {
        try checkActive()
        return try unsettledHistories.find(in: reader)?.hasUnsettledHistory() ?? false
    }

    /// Returns the tokens of the unsettled entries that the session sees.
    public final func unsettledTokens() throws(StorageError) -> [HistoryToken] {
        try checkActive()
        return try unsettledHistories.find(in: reader)?.unsettledTokens() ?? []
    }

    /// Returns the number and the age of the unsettled entries.
    public final func historyLag() throws(StorageError) -> HistoryLag {
        try checkActive()
        return try unsettledHistories.find(in: reader)?.historyLag() ?? HistoryLag()
    }
}
