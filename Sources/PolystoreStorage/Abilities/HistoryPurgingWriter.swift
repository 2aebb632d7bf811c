/// A write transaction of a store whose history can be forgotten (capability `history`).
public protocol HistoryPurgingWriter: StorageWriter {
    /// Forgets the history up to a token, itself included.
    ///
    /// *Behavior*: from then on an older token is `tokenExpired`; the token itself stays good to go on from. One that is newer than the
    /// newest entry forgets all that `history` gives. Tokens of new entries go on rising. A token of another store is `tokenExpired`.
    func purgeHistory(through token: HistoryToken) throws(StorageError)
}

extension StorageWriter {
    /// Forgets the history up to a token; `unsupported` without the ability.
    public func purgeHistory(through token: HistoryToken) throws(StorageError) {
        guard let writer = ability((any HistoryPurgingWriter).self) else { throw .keepsNoHistory }
        try writer.purgeHistory(through: token)
    }
}
