package import PolystoreStorage

/// A write transaction over a store's own tables, which records its changes itself.
///
/// Each requirement changes many rows. The caller of a requirement records the change in `recorder`.
package protocol SQLTableWriter: SQLWriteSession, BatchWriter, ChangeRecordingWriter {
    var recorder: HistoryRecorder { get set }
    /// A batch for the rows of one statement, or for as many as the engine takes at once.
    var rowBatch: RowBatch { get }

    /// Compares the versions of rows with the expected ones, by key, and throws before or together with the error of a later change.
    func compareVersions(_ entity: EntityIndex, _ expected: [Int64: Int64]) throws(StorageError)
    /// Deletes existing rows, each in the expected version.
    func delete(_ entity: EntityIndex, _ deletions: [RowDeletion]) throws(StorageError)
    /// Sets columns of rows to nil.
    func clear(_ slots: [Int], _ entity: EntityIndex, _ rows: RowSource) throws(StorageError)
    func update(_ entity: EntityIndex, _ update: RowUpdate) throws(StorageError)
    func insert(_ entity: EntityIndex, _ rows: RowSource) throws(StorageError)
    func remove(_ pairs: [LinkPair], link: Int) throws(StorageError)
    func add(_ pairs: [LinkPair], link: Int) throws(StorageError)
    /// Waits until the engine has processed everything that was sent to it.
    func flush() throws(StorageError)

    /// Runs a statement that changes rows of an entity.
    ///
    /// - Parameter body: Receives the key of each row and, in a hierarchy, the number of its entity.
    func change(_ entity: EntityIndex, _ text: SQLText, _ body: (Int64, Int64?) -> Void) throws(StorageError)
}

extension SQLTableWriter {
    package func flush() {}

    package var recordedChanges: HistoryChanges? { recorder.changes }

    package func apply(_ changes: ChangeSet) throws(StorageError) {
        try checkOpen()
        // A value that another transaction has left to a new row is usually taken again because of the conflict with that transaction.
        if changes.entities.contains(where: { !core.tables.schema[$0.entity].uniqueConstraints.isEmpty }) {
            for change in changes.entities { try checkVersions(change) }
        }
        for change in changes.entities where !change.deletes.isEmpty {
            try remember(change)
            try delete(change.entity, change.deletes)
        }
        try park(changes.entities)
        for change in changes.entities { for update in change.updates { try self.update(change.entity, update) } }
        for change in changes.entities { if let inserts = change.inserts { try insert(change.entity, inserts) } }
        for change in changes.links { try apply(change) }
        try flush()
    }

    /// Compares the versions of rows before the first change, so that a conflict is reported before the unique values that it causes to
    /// clash. The statements of the changes compare them again.
    private func checkVersions(_ change: EntityChanges) throws(StorageError) {
        var expected: [Int64: Int64] = [:]
        for deletion in change.deletes { expected[deletion.key] = deletion.expectedVersion }
        for update in change.updates where update.checksVersion {
            try update.rows.forEachBatch(rowBatch) { batch in
                for index in 0..<batch.count { expected[batch.key(index)] = batch.row(index).version }
            }
        }
        if !expected.isEmpty { try compareVersions(change.entity, expected) }
    }

    package func compareVersions(_ entity: EntityIndex, _ expected: [Int64: Int64]) throws(StorageError) {
        let found = RowBatch(capacity: expected.count)
        try rows(entity, keys: expected.keys.sorted(), into: found)
        try compare((0..<found.count).map { (found.key($0), found.row($0).version) }, expected, entity)
    }

    /// Compares the stored versions of rows with the expected ones.
    ///
    /// - Throws: `staleObject` for a row with another version; `notFound` for a row that is not stored.
    package func compare(
        _ stored: [(key: Int64, version: Int64)], _ expected: [Int64: Int64], _ entity: EntityIndex
    ) throws(StorageError) {
        var expected = expected
        let name = core.tables.schema.entities[entity].name
        for (key, version) in stored where expected.removeValue(forKey: key) != version {
            throw StorageError(
                .staleObject, "\(name) \(key) was changed by another transaction since it was read",
                details: .init(entity: name, keys: [key]))
        }
        guard let gone = expected.keys.min() else { return }
        throw StorageError(.notFound, "\(name) \(gone) no longer exists", details: .init(entity: name, keys: expected.keys.sorted()))
    }

    /// Reads the values that the history preserves of rows before they are deleted.
    private func remember(_ change: EntityChanges) throws(StorageError) {
        if !recorder.preserves(change.entity) { return }
        let found = RowBatch(capacity: change.deletes.count)
        try rows(change.entity, keys: change.deletes.map(\.key), into: found)
        for index in 0..<found.count { recorder.remember(found.row(index)) }
    }

    /// Sets unique columns to nil where several rows of a hierarchy change them, so that the rows can swap values.
    private func park(_ changes: [EntityChanges]) throws(StorageError) {
        let schema = core.tables.schema
        var parked: [EntityIndex: [(entity: EntityIndex, slots: [Int], rows: RowSource)]] = [:]
        for change in changes where !change.updates.isEmpty {
            let unique = Set(schema[change.entity].uniqueConstraints.flatMap(\.slots))
            if unique.isEmpty { continue }
            for update in change.updates {
                let slots = update.mask.slots.filter(unique.contains)
                if !slots.isEmpty { parked[schema[change.entity].root, default: []].append((change.entity, slots, update.rows)) }
            }
        }
        for parts in parked.values where parts.reduce(0, { $0 + $1.rows.count }) > 1 {
            for part in parts { try clear(part.slots, part.entity, part.rows) }
        }
    }

    private func apply(_ changes: LinkChanges) throws(StorageError) {
        if !changes.removed.isEmpty { try remove(changes.removed, link: changes.link) }
        try add(changes.added, link: changes.link)
        let owner = core.tables.schema.links[changes.link].owner
        for key in Set(changes.removed.map(\.owner)).union(changes.added.map(\.owner)).sorted() {
            recorder.links(changes.link, owner: owner, key)
        }
    }

    /// Records the effect of an upsert on a row for which the key `given` was reserved.
    package func upserted(_ upsert: RowUpsert, given: Int64, key: Int64, number: Int64?) -> UpsertedRow {
        let entity = number.flatMap(core.tables.entity) ?? upsert.entity, isInserted = key == given
        if isInserted { recorder.insert(entity, key) } else { recorder.update(entity, key, upsert.update) }
        return UpsertedRow(key: key, entity: entity, isInserted: isInserted)
    }

    // MARK: Batches

    package func updateAll(_ update: BatchUpdate) throws(StorageError) -> [EntityIndex: [Int64]]? {
        try checkOpen()
        guard let text = core.statements.update(update) else { return nil }
        let mask = update.mask, keys = try keys(of: text, update.fetch.entity)
        for (entity, keys) in keys.sorted(by: { $0.key < $1.key }) { for key in keys { recorder.update(entity, key, mask) } }
        return keys
    }

    package func deleteAll(_ plan: FetchPlan) throws(StorageError) -> [EntityIndex: [Int64]]? {
        try checkOpen()
        guard let text = core.statements.delete(plan) else { return nil }
        if recorder.preserves(plan.entity) {
            let cursor = try cursor(for: plan), batch = RowBatch()
            while try cursor.next(into: batch) { for index in 0..<batch.count { recorder.remember(batch.row(index)) } }
        }
        let keys = try keys(of: text, plan.entity)
        for (entity, keys) in keys.sorted(by: { $0.key < $1.key }) { for key in keys { recorder.delete(entity, key) } }
        return keys
    }

    private func keys(of text: SQLText, _ entity: EntityIndex) throws(StorageError) -> [EntityIndex: [Int64]] {
        var keys: [EntityIndex: [Int64]] = [:]
        let tables = core.tables
        try change(entity, text) { key, number in keys[number.flatMap(tables.entity) ?? entity, default: []].append(key) }
        return keys.mapValues { $0.sorted() }
    }
}
