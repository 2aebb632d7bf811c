/// A write transaction that can append transactions of another store to the history, with their own times and authors.
package protocol HistoryRestoringWriter: StorageWriter {
    /// Appends entries to the history, in their order.
    ///
    /// *Requires*: the history had no entry before the first call; the changes are those of the store's model.
    ///
    /// *Behavior*: the entries get positions of the store in place of their own, after a floor: older transactions are not known, so a token
    /// from before the first entry is `tokenExpired`. The entries are committed with the transaction, which needs none of its own.
    func restoreHistory(_ entries: [HistoryEntry]) throws(StorageError)
}

extension WriteSession {
    /// Whether the transaction can append transactions of another store to the history.
    package var restoresHistory: Bool {
        store.capabilities.contains(.history) && writer.ability((any HistoryRestoringWriter).self) != nil
    }

    /// Appends transactions of another store to a history that has none. Their tokens are replaced by tokens of this store.
    ///
    /// - Throws: `unsupported` for a store that cannot do it; `limitExceeded`.
    package func restoreHistory(_ entries: [HistoryEntry]) throws(StorageError) {
        guard restoresHistory, let restoring: any HistoryRestoringWriter = writer.ability((any HistoryRestoringWriter).self) else {
            throw .keepsNoHistory
        }
        try change { () throws(StorageError) in try restoring.restoreHistory(entries) }
    }
}
