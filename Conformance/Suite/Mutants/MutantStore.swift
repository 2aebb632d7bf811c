internal import Foundation
public import PolystoreStorage
internal import Synchronization

/// An intentionally broken store: another store with one defect. The suite must detect each defect.
public final class MutantStore: ForwardingStore, MigratingStorage, ChangeNotifyingStorage, CommitOutcomeStorage {
    /// The defects, with the case that detects each of them.
    public enum Defect: String, Sendable, CaseIterable {
        /// The names describe the defect; the raw value is the case of the suite that detects it.
        case losesTheLastRow = "C002.many-in-one-transaction"
        case ignoresLimit = "O016.limit-3"
        case ignoresOffset = "O017.offset-without-limit"
        case ignoresOrder = "O001.int-ascending-nil-first"
        case sortsNilLast = "O001.int-descending-nil-last"
        case ignoresConditions = "P001.int-equal"
        case missesNilInInequality = "P001.int-not-equal-includes-nil"
        case forgetsRollback = "T002.rollback-leaves-nothing"
        case keepsHalfChangeSets = "T007.a-violation-that-is-corrected"
        case keepsNotesOverRollbacks = "T005.notes-set-after-a-savepoint"
        case reportsEveryCommitAsDone = "T060.the-outcome-of-a-commit-is-reported"
        case usesKeysAgain = "C015.keys-are-never-used-again"
        case forgetsVersions = "L002.stale-version"
        case losesMicroseconds = "V016.date-microseconds"
        case turnsEmptyTextIntoNil = "V025.text-empty-and-nil"
        case sumOfNothingIsNil = "A002.sum-of-nothing-int"
        case leaksNewRowsIntoSnapshots = "I020.a-read-sees-one-snapshot"
        case forgetsHistory = "T040.history-has-one-entry-for-each-commit"
        case losesTombstones = "H002.a-deletion-keeps-what-the-model-preserves"
        case tellsEachChange = "H004.one-change-for-each-object"
        case recordsTransientObjects = "H005.objects-created-and-deleted-in-one-transaction-are-not-recorded"
        case forgetsAuthors = "H006.the-author-is-kept"
        case goesOverGaps = "H008.a-token-from-before-a-purge-has-expired"
        case purgesNothing = "H009.a-purge-keeps-what-is-later"
        case saysNoToken = "H010.a-session-says-which-commits-it-sees"
        case tellsTheNewestFirst = "H015.pages"
        case namesSecrets = "H016.what-the-model-excludes-is-never-named"
        case forgetsLinks = "C040.links"
        case opensAnyModel = "S003.another-model-is-refused-by-its-first-difference"
        case forgetsItsFormat = "S001.opening-again-changes-nothing"
        case losesDefaultsInSteps = "M001.an-attribute-with-a-default-comes"
        case losesRenamedValuesInSteps = "M008.ten-versions-in-a-chain"
        case losesPairsInSteps = "M006.to-one-becomes-many-to-many"
        case keepsRowsOfRecreatedEntities = "M007.an-entity-is-recreated-under-its-name"
        case stepsWithoutCommit = "M001.an-optional-attribute-comes"
        case commitsHalfSteps = "M013.a-step-that-is-given-up-leaves-everything"
        case usesKeysAgainAfterSteps = "M015.keys-of-deleted-objects-are-not-used-again"
        case forgetsEarlierVersions = "M020.again-is-nothing"
        case takesStepsFromElsewhere = "M017.an-explanation-changes-nothing"
        case reportsNoCommit = "N013.a-commit-of-another-instance-is-reported"
        case takesLoadsForEntries = "N013.a-bulk-load-is-unknown"
        case reportsAfterCancel = "N014.nothing-is-reported-after-cancel"
        case leavesOutInsertions = "N001.insert-update-delete-and-move-once-after-the-commit"
        case leavesOutUpdates = "N001.an-update-alone"
        case leavesOutDeletions = "N001.a-deletion-alone"
        case leavesOutLinks = "N007.conditions-over-relationships"
        case losesWhatItKeeps = "G068.what-the-second-store-misses-it-takes-over"
    }

    /// The type name of the store, `mutant`.
    public static let storeType = "mutant"

    /// The store to which the defect is added.
    public let base: any StorageInterface
    let defect: Defect

    /// Creates a store with a defect.
    public init(_ base: any StorageInterface, _ defect: Defect) {
        self.base = base
        self.defect = defect
    }

    /// Opens the store.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        var state: StorageState
        do throws(StorageError) {
            state = try base.open(request)
        } catch  where error.code == .schemaMismatch && defect == .opensAnyModel {
            state = try base.open(OpenRequest(schema: nil))
        }
        if defect == .forgetsItsFormat {
            state = StorageState(storeID: state.storeID, schema: state.schema, formatVersion: 0, wasCreated: state.wasCreated)
        }
        return state
    }

    /// Begins a read session with a defect.
    public func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader {
        MutantReader(try base.beginRead(options), self)
    }

    /// Begins a write transaction with a defect.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        MutantWriter(try base.beginWrite(options), self)
    }

    /// Begins a migration with a defect.
    public func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> any StorageMigration {
        guard let base = base.ability((any MigratingStorage).self) else {
            throw StorageError(.unsupported, "the store does not support migrations")
        }
        return try MutantMigration(base.beginMigration(step, options), step, self)
    }

    /// Returns the outcome of a commit, or the answer that the defect produces.
    public func outcome(of token: CommitToken, limit: WorkLimit?) throws(StorageError) -> CommitOutcome {
        if defect == .reportsEveryCommitAsDone { return .committed }
        guard let base = base.ability((any CommitOutcomeStorage).self) else {
            throw StorageError(.notFound, "the store has no commit tokens")
        }
        return try base.outcome(of: token, limit: limit)
    }

    /// Returns the explanation of the store without the defect.
    public func explanation(of step: MigrationStep, after earlier: [MigrationStep]) throws(StorageError) -> [String] {
        do throws(StorageError) {
            return try base.ability((any MigratingStorage).self)?.explanation(of: step, after: earlier) ?? []
        } catch  where error.code == .schemaMismatch && defect == .takesStepsFromElsewhere {
            return ["all objects are migrated to version \"\(step.mapping.destination.version)\""]
        }
    }

    /// Watches the store with a defect.
    public func watchChanges(_ handler: @escaping @Sendable (ChangeSignal) -> Void) throws(StorageError) -> (any ChangeWatch)? {
        let defect = defect
        let watch = try base.ability((any ChangeNotifyingStorage).self)?.watchChanges { signal in
            if defect != .reportsNoCommit { handler(defect == .takesLoadsForEntries ? .history : signal) }
        }
        return defect == .reportsAfterCancel ? watch.map(MutantWatch.init) : watch
    }

    /// A watch that cannot be ended.
    private final class MutantWatch: ChangeWatch {
        private static let all = Mutex<[any ChangeWatch]>([])

        init(_ inner: any ChangeWatch) { Self.all.withLock { $0.append(inner) } }

        func cancel() {}
    }

}

/// A session with a defect.
class MutantReader: ForwardingReader, ValueQueryReader, HistoryReader {
    let reader: any StorageReader
    let store: MutantStore

    init(_ reader: any StorageReader, _ store: MutantStore) {
        self.reader = reader
        self.store = store
    }

    /// Returns the session that answers: a new one if the defect leaks rows into snapshots.
    private func current() throws(StorageError) -> any StorageReader {
        store.defect == .leaksNewRowsIntoSnapshots && !(self is MutantWriter) ? try store.base.beginRead(ReadOptions()) : reader
    }

    func cursor(for plan: FetchPlan) throws(StorageError) -> any RowCursor {
        var plan = plan
        switch store.defect {
        case .ignoresLimit: plan.limit = nil
        case .ignoresOffset: plan.offset = 0
        case .ignoresOrder: plan.sort = []
        case .sortsNilLast: plan.sort = plan.sort.map { CheckedSort($0.expression, ascending: true) }
        case .ignoresConditions: plan.predicate = .constant(true)
        case .missesNilInInequality:
            if case .compare(.path(let path), .notEqual, .value) = plan.predicate {
                plan.predicate = .and([plan.predicate, .not(.isNil(path))])
            }
        case .losesTheLastRow, .forgetsRollback, .keepsHalfChangeSets, .usesKeysAgain, .forgetsVersions, .losesMicroseconds,
            .turnsEmptyTextIntoNil, .keepsNotesOverRollbacks,
            .sumOfNothingIsNil, .leaksNewRowsIntoSnapshots, .forgetsHistory, .losesTombstones, .tellsEachChange,
            .recordsTransientObjects, .forgetsAuthors, .goesOverGaps, .purgesNothing, .saysNoToken, .tellsTheNewestFirst, .namesSecrets,
            .forgetsLinks, .opensAnyModel, .forgetsItsFormat, .losesDefaultsInSteps, .losesRenamedValuesInSteps, .losesPairsInSteps,
            .keepsRowsOfRecreatedEntities, .stepsWithoutCommit,
            .commitsHalfSteps, .usesKeysAgainAfterSteps, .forgetsEarlierVersions, .takesStepsFromElsewhere, .reportsNoCommit,
            .takesLoadsForEntries, .reportsEveryCommitAsDone, .reportsAfterCancel, .leavesOutInsertions, .leavesOutUpdates,
            .leavesOutDeletions, .leavesOutLinks, .losesWhatItKeeps:
            break
        }
        return MutantCursor(try current().cursor(for: plan), store.defect)
    }

    func rows(_ entity: EntityIndex, keys: [Int64], into batch: RowBatch) throws(StorageError) {
        try current().rows(entity, keys: keys, into: batch)
        MutantCursor.damage(batch, store.defect)
    }

    func values(for plan: QueryPlan) throws(StorageError) -> [[Value]]? {
        let values = try current().ability((any ValueQueryReader).self)?.values(for: plan)
        return store.defect == .sumOfNothingIsNil ? values?.map { $0.map { $0 == .int(0) ? .null : $0 } } : values
    }

    func links(
        _ link: Int, side: LinkSide, keys: [Int64]?, _ body: (UnsafeBufferPointer<LinkPair>) throws(StorageError) -> Void
    ) throws(StorageError) {
        if store.defect != .forgetsLinks { try reader.links(link, side: side, keys: keys, body) }
    }

    func history(since token: HistoryToken?, limit: Int) throws(StorageError) -> [HistoryEntry] {
        guard let reader = reader.ability((any HistoryReader).self) else { throw .keepsNoHistory }
        do throws(StorageError) {
            return MutantHistory.damaged(try reader.history(since: token, limit: limit), store.defect)
        } catch  where error.code == .tokenExpired && store.defect == .goesOverGaps {
            return try reader.history(since: nil, limit: limit)
        }
    }

    func currentToken() throws(StorageError) -> HistoryToken? {
        store.defect == .saysNoToken ? nil : try reader.ability((any HistoryReader).self)?.currentToken()
    }

    func pushdown(of plan: QueryPlan) -> Pushdown { reader.ability((any ValueQueryReader).self)?.pushdown(of: plan) ?? .unsupported }

    func end() { reader.end() }
}

/// A write session with a defect.
class MutantWriter: MutantReader, ForwardingWriter, ChangeRecordingWriter, HistoryPurgingWriter {
    let writer: any StorageWriter
    /// The notes that were set, by their names.
    private var notes: [String: Data?] = [:]

    init(_ writer: any StorageWriter, _ store: MutantStore) {
        self.writer = writer
        super.init(writer, store)
    }

    override func end() {
        if store.defect == .forgetsRollback { _ = try? writer.commit(CommitRecord()) }
        writer.end()
    }

    func reserveKeys(_ entity: EntityIndex, count: Int) throws(StorageError) -> Range<Int64> {
        let keys = try writer.reserveKeys(entity, count: count)
        guard store.defect == .usesKeysAgain else { return keys }
        // The smallest keys that are not in use.
        let taken = RowBatch(capacity: 1)
        try writer.rows(entity, keys: [1], into: taken)
        return taken.count == 0 ? 1..<Int64(count + 1) : keys
    }

    func apply(_ changes: ChangeSet) throws(StorageError) {
        var changes = changes
        if store.defect == .forgetsVersions {
            changes.entities = changes.entities.map { change in
                var change = change
                change.updates = change.updates.map { RowUpdate(mask: $0.mask, checksVersion: false, rows: $0.rows) }
                change.deletes = change.deletes.map { RowDeletion(key: $0.key) }
                return change
            }
        }
        try writer.apply(changes)
    }

    var recordedChanges: HistoryChanges? {
        guard let changes = writer.ability((any ChangeRecordingWriter).self)?.recordedChanges else { return nil }
        return HistoryChanges(
            changes.filter { change in
                switch change.kind {
                case .insert: store.defect != .leavesOutInsertions
                case .update: store.defect != .leavesOutUpdates
                case .delete: store.defect != .leavesOutDeletions
                case .links: store.defect != .leavesOutLinks
                }
            })
    }

    func rollback(to savepoint: Int) throws(StorageError) {
        if store.defect != .keepsHalfChangeSets { try writer.rollback(to: savepoint) }
        if store.defect == .keepsNotesOverRollbacks { for (name, bytes) in notes { try writer.setNote(name, bytes) } }
    }

    // These methods are declared here again so that a subclass can override them.
    func load(_ root: EntityIndex, _ batch: RowBatch) throws(StorageError) { try writer.load(root, batch) }
    func load(link: Int, _ pairs: [LinkPair]) throws(StorageError) { try writer.load(link: link, pairs) }
    func setNote(_ name: String, _ bytes: Data?) throws(StorageError) {
        notes.updateValue(bytes, forKey: name)
        if store.defect != .losesWhatItKeeps || !name.hasPrefix("redo.") { try writer.setNote(name, bytes) }
    }
    func purgeHistory(through token: HistoryToken) throws(StorageError) {
        if store.defect != .purgesNothing { try writer.ability((any HistoryPurgingWriter).self)?.purgeHistory(through: token) }
    }
    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        let token = try writer.commit(record)
        // A token for an entry that does not exist in the history.
        return token == nil && store.defect == .recordsTransientObjects ? HistoryToken(store: UUID(), position: 1) : token
    }
}

/// A row cursor with a defect.
final class MutantCursor: RowCursor {
    private let inner: any RowCursor
    private let defect: MutantStore.Defect

    init(_ inner: any RowCursor, _ defect: MutantStore.Defect) {
        self.inner = inner
        self.defect = defect
    }

    func next(into batch: RowBatch) throws(StorageError) -> Bool {
        guard try inner.next(into: batch) else { return false }
        if defect == .losesTheLastRow { batch.removeLastRow() }
        Self.damage(batch, defect)
        return true
    }

    /// Changes the cells of a batch.
    static func damage(_ batch: RowBatch, _ defect: MutantStore.Defect) {
        for index in 0..<batch.count {
            let cells = batch.mutableCells(index)
            for slot in 0..<batch.slotCount(index) {
                if defect == .losesMicroseconds, cells[slot].kind == .int, abs(cells[slot].int) > 1000 {
                    cells[slot] = .int(cells[slot].int / 1000 * 1000)
                }
                if defect == .turnsEmptyTextIntoNil, cells[slot].kind == .text, cells[slot].length == 0 { cells[slot] = .null }
            }
        }
    }
}
