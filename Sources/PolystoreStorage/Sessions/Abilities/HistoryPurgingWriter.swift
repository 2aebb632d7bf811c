/// A write transaction of a store whose history can be purged (capability `history`).
package protocol HistoryPurgingWriter: StorageWriter {
    /// Purges the history up to and including a token.
    ///
    /// *Behavior*: afterwards an older token is `tokenExpired`, while the token itself remains a valid starting point. A token newer than
    /// the newest entry purges all entries that `history` returns. Tokens of new entries continue to rise. A token of another store is
    /// `tokenExpired`.
    func purgeHistory(through token: HistoryToken) throws(StorageError)
}

extension WriteSession {
    /// Purges the history up to and including a token.
    ///
    /// - Throws: `tokenExpired` for a token of another store; `unsupported` without the capability `history`.
    public func purgeHistory(through token: HistoryToken) throws(StorageError) {
        try checkActive()
        guard store.capabilities.contains(.history), let purger = purgers.find(in: writer) else { throw .keepsNoHistory }
        try purger.purgeHistory(through: token)
    }
}
