/// A read session of a store that keeps the history of its transactions (capability `history`).
public protocol HistoryReader: StorageReader {
    /// Returns the transactions after a token, oldest first, at most `limit`.
    ///
    /// *Behavior*: nil starts with the oldest retained entry. A token from before that entry and a token of another store are
    /// `tokenExpired`. A store that keeps no history throws `unsupported`.
    func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry]

    /// Returns the token of the newest transaction that the session sees, or nil if there is none. If all entries were purged, returns the
    /// token that was purged last. A store that keeps no history returns nil.
    func currentToken() throws(StorageError) -> HistoryToken?
}

extension ReadSession {
    /// Returns the transactions after a token, oldest first, at most `limit`. Nil starts with the oldest retained entry.
    ///
    /// - Throws: `tokenExpired` for a token from before that entry and for a token of another store; `unsupported` without the capability
    ///   `history`.
    public final func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        try checkActive()
        guard store.capabilities.contains(.history), let reader = histories.find(in: reader) else { throw .keepsNoHistory }
        return try reader.history(since: token, limit: limit)
    }

    /// Returns the token of the newest transaction that the session sees, or nil if there is none. If all entries were purged, returns the
    /// token that was purged last. A store that keeps no history returns nil.
    public final func currentToken() throws(StorageError) -> HistoryToken? {
        try checkActive()
        return store.capabilities.contains(.history) ? try histories.find(in: reader)?.currentToken() : nil
    }
}
