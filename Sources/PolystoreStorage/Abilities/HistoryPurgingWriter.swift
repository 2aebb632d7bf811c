/// A write transaction of a store whose history can be forgotten (capability `history`).
public protocol HistoryPurgingWriter: StorageWriter {
    /// Forgets the history up to a token, itself included.
    ///
    /// *Behavior*: from then on an older token is `tokenExpired`; the token itself stays good to go on from. One that is newer than the
    /// newest entry forgets all that `history` gives. Tokens of new entries go on rising. A token of another store is `tokenExpired`.
    func purgeHistory(through token: HistoryToken) throws(StorageError)
}

extension WriteSession {
    /// Forgets the history up to a token, itself included.
    ///
    /// - Throws: `tokenExpired` for a token of another store; `unsupported` without the capability `history`.
    public func purgeHistory(through token: HistoryToken) throws(StorageError) {
        try checkActive()
        guard store.capabilities.contains(.history), let purger = purgers.find(in: writer) else { throw .keepsNoHistory }
        try purger.purgeHistory(through: token)
    }
}
