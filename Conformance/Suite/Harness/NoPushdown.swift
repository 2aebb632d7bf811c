internal import Foundation
internal import PolystoreStorage

/// A session that answers no condition and no order by itself, so that everything is done above it.
final class NoPushdown: StorageReader {
    private let inner: any StorageReader

    init(_ inner: any StorageReader) { self.inner = inner }

    func pushdown(of plan: FetchPlan) -> Pushdown { plan.predicate == .constant(true) ? .exact : .unsupported }
    func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor { try inner.cursor(for: plan) }
    func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        try inner.rows(entity, keys: keys, into: batch)
    }
    func values(for plan: QueryPlan) throws(StorageError) -> [[Value]] { try inner.values(for: plan) }
    func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<Link>) throws(StorageError) -> Void
    ) throws(StorageError) { try inner.links(link, side: side, keys: keys, body) }
    func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        try inner.history(since: token, limit: limit)
    }
    func note(_ name: String) throws(StorageError) -> Data? { try inner.note(name) }
    func currentToken() throws(StorageError) -> HistoryToken? { try inner.currentToken() }
    func hasUnsettledHistory() throws(StorageError) -> Bool { try inner.hasUnsettledHistory() }
    func historyLag() throws(StorageError) -> HistoryLag { try inner.historyLag() }
    func end() { inner.end() }
}
