/// The maximum size of a value that a store accepts, checked before values are passed to the store.
struct ValueLimits {
    private let maximumBytes: Int
    private let schema: Schema

    /// Creates the limits of a store.
    init(_ maximumBytes: Int, _ schema: Schema) {
        self.maximumBytes = maximumBytes
        self.schema = schema
    }

    /// Checks the values of a batch.
    ///
    /// - Throws: `valueTooLarge`, which names the entity and the attribute.
    func check(_ batch: RowBatch) throws(StorageError) {
        if !batch.hasCell(longerThan: maximumBytes) { return }
        for index in 0..<batch.count {
            let row = batch.row(index)
            for slot in schema[row.entity].slots.indices where Int(row[slot].length) > maximumBytes {
                throw tooLarge(schema[row.entity], slot, Int(row[slot].length))
            }
        }
    }

    private func tooLarge(_ entity: EntityDescription, _ slot: Int, _ count: Int) -> StorageError {
        let name = entity.slots[slot].name
        return StorageError(
            .valueTooLarge, "the value of \(entity.name).\(name) has \(count) bytes; the store accepts at most \(maximumBytes)",
            details: .init(entity: entity.name, property: name))
    }

    /// Returns the same changes with a check of each batch that the store requests.
    func checking(_ changes: ChangeSet) -> ChangeSet {
        var changes = changes
        for index in changes.entities.indices {
            changes.entities[index].inserts = changes.entities[index].inserts.map(checking)
            changes.entities[index].updates = changes.entities[index].updates.map {
                RowUpdate(mask: $0.mask, checksVersion: $0.checksVersion, rows: checking($0.rows))
            }
        }
        return changes
    }

    /// Returns the same upsert with a check of each batch of rows that the store requests.
    func checking(_ upsert: RowUpsert) -> RowUpsert {
        RowUpsert(entity: upsert.entity, constraint: upsert.constraint, mask: upsert.mask, rows: checking(upsert.rows))
    }

    private func checking(_ rows: RowSource) -> RowSource {
        rows.checked { batch throws(StorageError) in try check(batch) }
    }
}
