internal import Foundation
internal import PolystoreStorage

/// A store that does what another one does, and does not tell what its transactions change.
final class SilentStore: StorageInterface {
    static let storeType = "silent"

    private let inner: any StorageInterface

    init(_ inner: any StorageInterface) { self.inner = inner }

    var configuration: String? { inner.configuration }
    var capabilities: StorageCapabilities { inner.capabilities }

    func open(_ request: OpenRequest) throws(StorageError) -> StorageState { try inner.open(request) }
    func beginRead() throws(StorageError) -> any StorageReader { try inner.beginRead() }
    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter { SilentWriter(try inner.beginWrite(options)) }
    func close() throws(StorageError) { try inner.close() }
    func erase() throws(StorageError) { try inner.erase() }
}

/// A write transaction without `recordedChanges`.
private final class SilentWriter: StorageWriter {
    private let inner: any StorageWriter

    init(_ inner: any StorageWriter) { self.inner = inner }

    func pushdown(of plan: FetchPlan) -> Pushdown { inner.pushdown(of: plan) }
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
    func end() { inner.end() }

    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        try inner.reserveKeys(entity, count: count)
    }
    func apply(_ changes: ChangeSet) throws(StorageError) { try inner.apply(changes) }
    func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] { try inner.upsert(upsert) }
    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) { try inner.load(root, batch) }
    func load(link: Int, _ pairs: [Link]) throws(StorageError) { try inner.load(link: link, pairs) }
    func setNote(_ name: String, _ bytes: Data?) throws(StorageError) { try inner.setNote(name, bytes) }
    func savepoint() throws(StorageError) -> Int { try inner.savepoint() }
    func rollback(to savepoint: Int) throws(StorageError) { try inner.rollback(to: savepoint) }
    func release(_ savepoint: Int) throws(StorageError) { try inner.release(savepoint) }
    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? { try inner.commit(record) }
}
