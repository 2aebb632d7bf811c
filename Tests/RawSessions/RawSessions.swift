internal import Foundation
public import PolystoreStorage

/// The abilities of the sessions of a store itself, for tests that look below `OpenStore`. One that is absent is a failure.
extension StorageReader {
    private func required<Ability>(_ type: Ability.Type) throws(StorageError) -> Ability {
        if let ability = ability(type) { return ability }
        throw StorageError(.unsupported, "the session has no \(type)")
    }

    /// That of `HistoryReader`.
    public func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        try required((any HistoryReader).self).history(since: token, limit: limit)
    }
    /// That of `HistoryReader`.
    public func currentToken() throws(StorageError) -> HistoryToken? { try required((any HistoryReader).self).currentToken() }
    /// That of `UnsettledHistoryReader`.
    public func hasUnsettledHistory() throws(StorageError) -> Bool {
        try ability((any UnsettledHistoryReader).self)?.hasUnsettledHistory() ?? false
    }
    /// That of `UnsettledHistoryReader`.
    public func unsettledTokens() throws(StorageError) -> [HistoryToken] {
        try required((any UnsettledHistoryReader).self).unsettledTokens()
    }
    /// That of `UnsettledHistoryReader`.
    public func historyLag() throws(StorageError) -> HistoryLag { try required((any UnsettledHistoryReader).self).historyLag() }
    /// That of `SQLReader`.
    public func rawRows(_ sql: RawSQL) throws(StorageError) -> RawRows { try required((any SQLReader).self).rawRows(sql) }
    /// That of `PlanExplainer`.
    public func explanation(of plan: FetchPlan) throws(StorageError) -> [String] {
        try required((any PlanExplainer).self).explanation(of: plan)
    }
    /// That of `PlanExplainer`.
    public func measuredExplanation(of plan: FetchPlan) throws(StorageError) -> [String] {
        try required((any PlanExplainer).self).measuredExplanation(of: plan)
    }
    /// That of `ValueQueryReader`.
    public func values(for plan: QueryPlan) throws(StorageError) -> [[Value]]? {
        try required((any ValueQueryReader).self).values(for: plan)
    }
    /// That of `SingleRowReader`.
    public func row(_ entity: EntityIndex, key: Int64, into batch: RowBatch) throws(StorageError) {
        try required((any SingleRowReader).self).row(entity, key: key, into: batch)
    }
}

extension StorageWriter {
    /// That of `SQLWriter`.
    public func execute(_ sql: RawSQL) throws(StorageError) -> Int {
        guard let writer = ability((any SQLWriter).self) else { throw StorageError(.unsupported, "the session takes no SQL") }
        return try writer.execute(sql)
    }
    /// That of `HistoryPurgingWriter`.
    public func purgeHistory(through token: HistoryToken) throws(StorageError) {
        try ability((any HistoryPurgingWriter).self)?.purgeHistory(through: token)
    }
    /// That of `ChangeRecordingWriter`.
    public var recordedChanges: HistoryChanges? { ability((any ChangeRecordingWriter).self)?.recordedChanges }
}

extension StorageInterface {
    /// Starts to read, without a limit.
    public func beginRead() throws(StorageError) -> any StorageReader { try beginRead(ReadOptions()) }
    /// Starts a session that sees the whole history.
    public func beginSettledRead() throws(StorageError) -> any StorageReader {
        try beginRead { reader throws(StorageError) in try !reader.hasUnsettledHistory() }
    }
    /// Starts a session whose view of the history meets a condition, as soon as one does. On a server, entries are withheld for a moment if
    /// the transaction of another store ends between the two looks that a session takes.
    ///
    /// - Throws: `StorageError` with the code `busy` after half a minute.
    public func beginRead(when isMet: (any StorageReader) throws(StorageError) -> Bool) throws(StorageError) -> any StorageReader {
        let end = Date(timeIntervalSinceNow: 30)
        while Date() < end {
            let reader = try beginRead()
            do throws(StorageError) {
                if try isMet(reader) { return reader }
                reader.end()
            } catch {
                reader.end()
                throw error
            }
            Thread.sleep(forTimeInterval: 0.01)
        }
        throw StorageError(.busy, "no session sees the history as required")
    }
    /// That of `ChangeNotifyingStorage`.
    public func watchChanges(_ handler: @escaping @Sendable (ChangeSignal) -> Void) throws(StorageError) -> (any ChangeWatch)? {
        try ability((any ChangeNotifyingStorage).self)?.watchChanges(handler)
    }
}

extension OpenStore {
    /// A store that somebody else has opened, for what needs no schema.
    public convenience init(opened store: any StorageInterface) {
        self.init(store, StorageState(storeID: UUID(), schema: .empty, formatVersion: StoreMetadata.currentFormat, wasCreated: false))
    }
}
