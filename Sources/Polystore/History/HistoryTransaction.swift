public import Foundation
public import PolystoreStorage

/// One committed transaction, as the history of a store keeps it.
///
/// A transaction over several stores has an entry in the history of each.
public struct HistoryTransaction: Sendable {
    /// Its place in the history.
    public let token: HistoryToken
    /// When it was committed, by the clock of who did.
    public let time: Date
    /// Who committed it.
    public let author: TransactionAuthor
    /// What it changed.
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

/// Transactions in their order, and where the next page goes on.
public struct HistoryPage: Sendable {
    /// What was found; there may be none although there is more to look through.
    public let transactions: [HistoryTransaction]
    /// The token from which the next page goes on: of the last transaction that was looked at, found or not.
    public let next: HistoryToken
    /// Whether there was nothing more when it was read.
    public let isLast: Bool

    init(_ page: HistoryScan.Page, _ model: StackModel) {
        transactions = page.entries.map { HistoryTransaction($0, model) }
        next = page.next
        isLast = page.isLast
    }
}
