/// A session of a store that keeps the history of its transactions (capability `history`).
public protocol HistoryReader: StorageReader {
    /// The transactions after a token, oldest first, at most `limit`.
    ///
    /// *Behavior*: nil starts with the oldest entry that is kept; a token from before it, and one of another store, is `tokenExpired`. A
    /// store that keeps no history throws `unsupported`.
    func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry]

    /// The token of the newest transaction that the session sees, nil when there is none; after a purge of all, the one that was purged
    /// last. A store that keeps no history has none.
    func currentToken() throws(StorageError) -> HistoryToken?
}

extension ReadSession {
    /// The transactions after a token, oldest first, at most `limit`; nil starts with the oldest entry that is kept.
    ///
    /// - Throws: `tokenExpired` for a token from before it, and for one of another store; `unsupported` without the capability `history`.
    public final func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        try checkActive()
        guard store.capabilities.contains(.history), let reader = histories.find(in: reader) else { throw .keepsNoHistory }
        return try reader.history(since: token, limit: limit)
    }

    /// The token of the newest transaction that the session sees, nil when there is none; after a purge of all, the one that was purged
    /// last. A store that keeps no history has none.
    public final func currentToken() throws(StorageError) -> HistoryToken? {
        try checkActive()
        return store.capabilities.contains(.history) ? try histories.find(in: reader)?.currentToken() : nil
    }
}
