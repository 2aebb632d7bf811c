import Foundation
import PolystoreStorage

/// A store whose next commit does not happen, as if the process had ended before it.
final class InterruptedStore: StorageInterface, @unchecked Sendable {
    static let storeType = "interrupted"
    private let inner: any StorageInterface
    /// Set by the one thread of a test.
    var isArmed = false
    /// Whether all its commits are interrupted.
    var isBroken = false

    init(_ inner: any StorageInterface) { self.inner = inner }

    var configuration: String? { inner.configuration }
    var capabilities: StorageCapabilities { inner.capabilities }
    func open(_ request: OpenRequest) throws(StorageError) -> StorageState { try inner.open(request) }
    func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader { try inner.beginRead(options) }
    func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        Writer(try inner.beginWrite(options)) { [unowned self] in
            defer { isArmed = false }
            return isArmed || isBroken
        }
    }
    func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> any StorageMigration {
        try inner.beginMigration(step, options)
    }
    func close() throws(StorageError) { try inner.close() }
    func erase() throws(StorageError) { try inner.erase() }

    private final class Writer: StorageWriter {
        private let inner: any StorageWriter
        private let isInterrupted: () -> Bool

        init(_ inner: any StorageWriter, _ isInterrupted: @escaping () -> Bool) {
            self.inner = inner
            self.isInterrupted = isInterrupted
        }

        func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
            if isInterrupted() { throw StorageError(.inputOutput, "interrupted") }
            return try inner.commit(record)
        }

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
        func currentToken() throws(StorageError) -> HistoryToken? { try inner.currentToken() }
        func hasUnsettledHistory() throws(StorageError) -> Bool { try inner.hasUnsettledHistory() }
        func unsettledTokens() throws(StorageError) -> [HistoryToken] { try inner.unsettledTokens() }
        func historyLag() throws(StorageError) -> HistoryLag { try inner.historyLag() }
        func note(_ name: String) throws(StorageError) -> Data? { try inner.note(name) }
        func end() { inner.end() }
        func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
            try inner.reserveKeys(entity, count: count)
        }
        func apply(_ changes: ChangeSet) throws(StorageError) { try inner.apply(changes) }
        func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] { try inner.upsert(upsert) }
        func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) { try inner.load(root, batch) }
        func load(link: Int, _ pairs: [Link]) throws(StorageError) { try inner.load(link: link, pairs) }
        func setNote(_ name: String, _ bytes: Data?) throws(StorageError) { try inner.setNote(name, bytes) }
        func purgeHistory(through token: HistoryToken) throws(StorageError) { try inner.purgeHistory(through: token) }
        func savepoint() throws(StorageError) -> Int { try inner.savepoint() }
        func rollback(to savepoint: Int) throws(StorageError) { try inner.rollback(to: savepoint) }
        func release(_ savepoint: Int) throws(StorageError) { try inner.release(savepoint) }
    }
}
