internal import Foundation
internal import PolystoreStorage

/// A transaction inside another one: it commits by keeping its savepoint, and ends by going back to it.
final class HeldSession: StorageWriter {
    private let session: any StorageWriter
    private var mark: Int?

    init(_ session: any StorageWriter, savepoint: Int?) {
        self.session = session
        mark = savepoint
    }

    deinit { end() }

    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        if let mark { try session.release(mark) }
        mark = nil
        return nil
    }

    func end() {
        guard let mark else { return }
        self.mark = nil
        try? session.rollback(to: mark)
        try? session.release(mark)
    }

    func pushdown(of plan: FetchPlan) -> Pushdown { session.pushdown(of: plan) }
    func pushdown(of plan: QueryPlan) -> Pushdown { session.pushdown(of: plan) }
    func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor { try session.cursor(for: plan) }
    func explanation(of plan: FetchPlan) throws(StorageError) -> [String] { try session.explanation(of: plan) }
    func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        try session.rows(entity, keys: keys, into: batch)
    }
    func row(_ entity: EntityIndex, key: Int64, into batch: RowBatch) throws(StorageError) {
        try session.row(entity, key: key, into: batch)
    }
    func values(for plan: QueryPlan) throws(StorageError) -> [[Value]] { try session.values(for: plan) }
    func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<Link>) throws(StorageError) -> Void
    ) throws(StorageError) { try session.links(link, side: side, keys: keys, body) }
    func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        try session.history(since: token, limit: limit)
    }
    func currentToken() throws(StorageError) -> HistoryToken? { try session.currentToken() }
    func hasUnsettledHistory() throws(StorageError) -> Bool { try session.hasUnsettledHistory() }
    func unsettledTokens() throws(StorageError) -> [HistoryToken] { try session.unsettledTokens() }
    func historyLag() throws(StorageError) -> HistoryLag { try session.historyLag() }
    func note(_ name: String) throws(StorageError) -> Data? { try session.note(name) }
    func rawRows(_ sql: RawSQL) throws(StorageError) -> RawRows { try session.rawRows(sql) }
    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        try session.reserveKeys(entity, count: count)
    }
    func apply(_ changes: ChangeSet) throws(StorageError) { try session.apply(changes) }
    func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] { try session.upsert(upsert) }
    func updateAll(_ update: BatchUpdate) throws(StorageError) -> [EntityIndex: [Int64]]? { try session.updateAll(update) }
    func deleteAll(_ plan: FetchPlan) throws(StorageError) -> [EntityIndex: [Int64]]? { try session.deleteAll(plan) }
    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) { try session.load(root, batch) }
    func load(link: Int, _ pairs: [Link]) throws(StorageError) { try session.load(link: link, pairs) }
    func setNote(_ name: String, _ bytes: Data?) throws(StorageError) { try session.setNote(name, bytes) }
    func purgeHistory(through token: HistoryToken) throws(StorageError) { try session.purgeHistory(through: token) }
    func savepoint() throws(StorageError) -> Int { try session.savepoint() }
    func rollback(to savepoint: Int) throws(StorageError) { try session.rollback(to: savepoint) }
    func release(_ savepoint: Int) throws(StorageError) { try session.release(savepoint) }
    func execute(_ sql: RawSQL) throws(StorageError) -> Int { try session.execute(sql) }
}
