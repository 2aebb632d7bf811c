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

extension StorageReader {
    /// Whether entries are withheld; false without the ability.
    public func hasUnsettledHistory() throws(StorageError) -> Bool {
        try ability((any UnsettledHistoryReader).self)?.hasUnsettledHistory() ?? false
    }

    /// The tokens of entries that are withheld; none without the ability.
    public func unsettledTokens() throws(StorageError) -> [HistoryToken] {
        try ability((any UnsettledHistoryReader).self)?.unsettledTokens() ?? []
    }

    /// How many entries are withheld; none without the ability.
    public func historyLag() throws(StorageError) -> HistoryLag {
        try ability((any UnsettledHistoryReader).self)?.historyLag() ?? HistoryLag()
    }
}
