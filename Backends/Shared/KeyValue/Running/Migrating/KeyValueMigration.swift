internal import PolystoreFoundation
internal import PolystoreStorage

/// A migration step of a store over ordered maps, performed in one transaction of the engine.
final class KeyValueMigration: StorageMigration {
    /// The maximum size of the rows that are in memory at once, in bytes, whatever the length of a row.
    private static let mostBytes = 16 << 20

    private let step: MigrationStep
    private let plan: KeyValueMigrationPlan
    private let store: KeyValueStore
    /// The core that the store had before the step.
    private let former: KeyValueCore
    private let engine: any OrderedStore
    private let lane: WriteLane
    private let maps: any OrderedWriter
    private let numbers: [String: Int]
    private let before: KeyValueMigrationSession
    private let after: KeyValueMigrationSession
    private var isOpen = true

    /// Begins the transaction of the step.
    ///
    /// - Throws: `schemaMismatch` when another program has migrated the store in the meantime.
    init(
        _ step: MigrationStep, _ plan: KeyValueMigrationPlan, _ store: KeyValueStore, _ former: KeyValueCore, _ engine: any OrderedStore,
        _ lane: WriteLane, _ options: WriteOptions
    ) throws(StorageError) {
        self.step = step
        self.plan = plan
        self.store = store
        self.former = former
        self.engine = engine
        self.lane = lane
        // New maps are created empty before the transaction: a rollback would remove maps that the transaction itself had created.
        numbers = try lane.commits.reshape { () throws(StorageError) in try engine.prepare(maps: plan.allNames) }
        maps = try engine.write(options)
        guard store.isOpen(former) else {
            maps.end()
            throw StorageError(.storeClosed, "the store was closed while the migration began")
        }
        let old = KeyValueCore(engine, plan.before, lane, numbers: numbers)
        // The check ends the transaction when it throws.
        try old.check(maps)
        before = KeyValueMigrationSession(old, maps, options.limit)
        after = KeyValueMigrationSession(KeyValueCore(engine, plan.after, lane, numbers: numbers), maps, options.limit)
    }

    deinit { end() }

    var source: any StorageWriter { before }
    var destination: any StorageWriter { after }

    func prepare() throws(StorageError) -> MigrationWork {
        try before.finishLoading()
        return plan.work
    }

    func finish(_ keys: MigrationKeys, limits: [EntityIndex: Int64]) throws(StorageError) {
        try after.finishLoading()
        for root in step.mapping.destination.roots where !plan.work.roots.contains(root) { try fillIndexes(root) }
        for name in plan.gone { if let map = numbers[name] { try maps.clear(map) } }
        let until = try before.newestPosition()
        let past = PastVersion(step.mapping, until: until, offset: keys.offset)
        after.recorder.add(before.recorder, by: past)
        try after.setNote(PastVersion.noteName(plan.after.migrations - 1), past.bytes)
        for (root, limit) in limits { try after.raiseKeys(root, to: limit) }
        try KeyValueStore.write(plan.after, maps)
    }

    /// Fills the new indexes of a hierarchy whose rows are kept.
    private func fillIndexes(_ root: EntityIndex) throws(StorageError) {
        let schema = step.mapping.destination
        let fresh = after.core.layout.keptIndexes.map { $0.filter { plan.freshIndexes.contains($0.name) } }
        if schema[root].family.allSatisfy({ fresh[$0].isEmpty }) { return }
        let cursor = try after.cursor(for: FetchPlan(schema, root)), batch = RowBatch(), kept = RowBatch(capacity: 4096)
        func write() throws(StorageError) {
            for index in 0..<kept.count {
                do throws(StorageError) {
                    let indexes = fresh[kept.row(index).entity]
                    try after.indexes.check(kept.row(index), indexes)
                    try after.indexes.add(kept.row(index), indexes)
                } catch {
                    var error = error
                    error.details.keys.append(kept.key(index))
                    throw error
                }
            }
            kept.clear()
        }
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                let row = batch.row(index)
                kept.append(copying: row, slots: schema[row.entity].slots.count)
            }
            if kept.isFull || kept.copiedBytes >= Self.mostBytes { try write() }
        }
        try write()
    }

    func commit(_ record: CommitRecord) throws(StorageError) -> HistoryToken? {
        guard isOpen else { throw StorageError(.storeClosed, "the migration has ended") }
        guard store.isOpen(former) else { throw StorageError(.storeClosed, "the store was closed during the migration") }
        try after.finishLoading()
        let token = try after.writeHistory(record)
        try lane.commits.reshape { () throws(StorageError) in try publish() }
        return token
    }

    private func publish() throws(StorageError) {
        try maps.commit()
        isOpen = false
        closeSessions()
        defer { lane.leave() }
        // The step is committed. If a session began in between, the engine is not reopened or cleaned up; empty maps that remain are
        // harmless. If the maps of the new version cannot be opened, or the store was closed meanwhile, later sessions are refused.
        if store.isOpen(former) {
            try? engine.reopen(mapCount: max(KeyValueLayout(plan.after).names.count, 200))
            try? engine.remove(maps: plan.gone)
        }
        try? store.publish(plan.after, after: former)
    }

    func end() {
        guard isOpen else { return }
        isOpen = false
        closeSessions()
        maps.end()
        try? store.publish(plan.before, after: former)
        lane.leave()
    }

    private func closeSessions() {
        before.end()
        after.end()
        before.core.close()
        after.core.close()
    }
}
