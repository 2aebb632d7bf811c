public import Foundation
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

/// A page of transactions in their order, with the token of the next page.
public struct HistoryPage: Sendable {
    /// The matching transactions. The array may be empty although there are more transactions to read.
    public let transactions: [HistoryTransaction]
    /// The token after which the next page begins: that of the last transaction that was read, matching or not.
    public let next: HistoryToken
    /// Whether there were no more transactions when the page was read.
    public let isLast: Bool

    init(_ page: HistoryScan.Page, _ model: StackModel) {
        transactions = page.entries.map { HistoryTransaction($0, model) }
        next = page.next
        isLast = page.isLast
    }
}
