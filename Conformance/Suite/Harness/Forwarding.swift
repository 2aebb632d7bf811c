internal import Foundation
internal import PolystoreStorage

/// A session that does what another one does, except for what its type says.
protocol ForwardingReader: StorageReader {
    var reader: any StorageReader { get }
}

extension ForwardingReader {
    func pushdown(of plan: FetchPlan) -> Pushdown { reader.pushdown(of: plan) }
    func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor { try reader.cursor(for: plan) }
    func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        try reader.rows(entity, keys: keys, into: batch)
    }
    func values(for plan: QueryPlan) throws(StorageError) -> [[Value]] { try reader.values(for: plan) }
    func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<Link>) throws(StorageError) -> Void
    ) throws(StorageError) { try reader.links(link, side: side, keys: keys, body) }
    func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        try reader.history(since: token, limit: limit)
    }
    func note(_ name: String) throws(StorageError) -> Data? { try reader.note(name) }
    func currentToken() throws(StorageError) -> HistoryToken? { try reader.currentToken() }
    func hasUnsettledHistory() throws(StorageError) -> Bool { try reader.hasUnsettledHistory() }
    func unsettledTokens() throws(StorageError) -> [HistoryToken] { try reader.unsettledTokens() }
    func historyLag() throws(StorageError) -> HistoryLag { try reader.historyLag() }
    func end() { reader.end() }
}

/// A write transaction that does what another one does, except for what its type says and for `recordedChanges`.
protocol ForwardingWriter: ForwardingReader, StorageWriter {
    var writer: any StorageWriter { get }
}

extension ForwardingWriter {
    var reader: any StorageReader { writer }

    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        try writer.reserveKeys(entity, count: count)
    }
    func apply(_ changes: ChangeSet) throws(StorageError) { try writer.apply(changes) }
    func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] { try writer.upsert(upsert) }
    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) { try writer.load(root, batch) }
    func load(link: Int, _ pairs: [Link]) throws(StorageError) { try writer.load(link: link, pairs) }
    func setNote(_ name: String, _ bytes: Data?) throws(StorageError) { try writer.setNote(name, bytes) }
    func purgeHistory(through token: HistoryToken) throws(StorageError) { try writer.purgeHistory(through: token) }
    func savepoint() throws(StorageError) -> Int { try writer.savepoint() }
    func rollback(to savepoint: Int) throws(StorageError) { try writer.rollback(to: savepoint) }
    func release(_ savepoint: Int) throws(StorageError) { try writer.release(savepoint) }
    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? { try writer.commit(record) }
}
