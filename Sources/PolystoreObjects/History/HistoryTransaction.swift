public import PolystoreFoundation
public import PolystoreStorage

/// A committed transaction from the history of a store.
///
/// A transaction over several stores has an entry in the history of each.
public struct HistoryTransaction: Sendable {
    /// The position of the transaction in the history.
    public let token: HistoryToken
    /// The time of the commit, by the clock of the committing process.
    public let time: Date
    /// The author of the transaction.
    public let author: TransactionAuthor
    /// The changes of the transaction.
    public let changes: ObjectChanges

    /// The identity of the store.
    public var store: UUID { token.store }

    init(_ entry: HistoryEntry, _ model: StackModel) {
        token = entry.token
        time = Microseconds.date(entry.time)
        author = TransactionAuthor(entry.author)
        changes = ObjectChanges([(entry.token.store, entry.changes)], model)
    }
}
