/// Collects the changes of a write transaction for observers, if the store does not collect them itself.
struct SessionChanges {
    private var recorder: HistoryRecorder
    private var savepoints: [Int: HistoryRecorder.Mark] = [:]
    private let scratch = RowBatch()
    private let schema: Schema

    init(_ schema: Schema) {
        self.schema = schema
        recorder = HistoryRecorder(HistoryRules(schema), isFollowed: true)
    }

    /// The changes so far, one for each object.
    var changes: HistoryChanges? { recorder.changes }

    /// Adds a change set that was applied.
    mutating func add(_ changes: ChangeSet) throws(StorageError) {
        for change in changes.entities {
            for deletion in change.deletes { recorder.delete(change.entity, deletion.key) }
        }
        for change in changes.entities {
            for update in change.updates {
                for (entity, key) in try keys(update.rows) { recorder.update(entity, key, update.mask) }
            }
            if let inserts = change.inserts {
                for (entity, key) in try keys(inserts) { recorder.insert(entity, key) }
            }
        }
        for change in changes.links {
            let owner = schema.links[change.link].owner
            for key in Set((change.removed + change.added).map(\.owner)).sorted() { recorder.links(change.link, owner: owner, key) }
        }
    }

    /// Adds the results of an upsert.
    mutating func add(_ upsert: RowUpsert, _ result: [UpsertedRow]) {
        for row in result {
            if row.isInserted { recorder.insert(row.entity, row.key) } else { recorder.update(row.entity, row.key, upsert.update) }
        }
    }

    private func keys(_ rows: RowSource) throws(StorageError) -> [(entity: EntityIndex, key: Int64)] {
        var keys: [(entity: EntityIndex, key: Int64)] = []
        try rows.forEachBatch(scratch) { batch throws(StorageError) in
            for index in 0..<batch.count { keys.append((batch.row(index).entity, batch.key(index))) }
        }
        return keys
    }

    mutating func mark(_ savepoint: Int) { savepoints[savepoint] = recorder.mark() }

    mutating func rollback(to savepoint: Int) { if let mark = savepoints[savepoint] { recorder.rewind(to: mark) } }
}
