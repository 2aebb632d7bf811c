public import PolystoreStorage

/// A page of transactions in their order, with the token of the next page.
public struct HistoryPage: Sendable {
    /// The matching transactions. The array may be empty although there are more transactions to read.
    public let transactions: [HistoryTransaction]
    /// The token after which the next page begins: that of the last transaction that was read, matching or not.
    public let next: HistoryToken
    /// Whether there were no more transactions when the page was read.
    public let isLast: Bool

    package init(_ page: HistoryScan.Page, _ model: StackModel) {
        transactions = page.entries.map { HistoryTransaction($0, model) }
        next = page.next
        isLast = page.isLast
    }
}
