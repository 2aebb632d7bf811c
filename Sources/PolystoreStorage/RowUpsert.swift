/// An upsert of rows of one entity: each row is inserted, or updates the row that has the same values under a unique constraint.
public struct RowUpsert {
    /// The entity of the rows.
    public let entity: EntityIndex
    /// The unique constraint, which belongs to the entity.
    public let constraint: ResolvedConstraint
    /// The slots that an existing row receives. Slots of the constraint already have the value.
    public let mask: SlotMask
    /// The rows, with all cells. Each row has a new primary key, which is used if the row is inserted.
    public let rows: RowSource

    /// Creates an upsert.
    public init(entity: EntityIndex, constraint: ResolvedConstraint, mask: SlotMask, rows: RowSource) {
        self.entity = entity
        self.constraint = constraint
        self.mask = mask
        self.rows = rows
    }

    /// The slots of the mask that are not part of the constraint, and whose values in an existing row can therefore change.
    public var assigned: [Int] { mask.slots.filter { !constraint.slots.contains($0) } }

    /// The mask of the slots that an update of an existing row writes.
    public var update: SlotMask {
        var mask = SlotMask()
        for slot in assigned { mask.insert(slot) }
        return mask
    }
}

extension RowUpsert {
    /// Returns the changes that the upsert made, in a form in which they can be applied again.
    public func changes(_ result: [UpsertedRow], _ schema: Schema) throws(StorageError) -> ChangeSet {
        let slots = schema[entity].slots.count, rows = rows, update = update
        let all = RowBatch(capacity: rows.count)
        try rows.forEachBatch(RowBatch(capacity: 512)) { batch throws(StorageError) in
            for index in 0..<batch.count { all.append(copying: batch.row(index), slots: slots) }
        }
        func source(_ chosen: [Int], _ entity: EntityIndex, _ written: SlotMask?) -> RowSource {
            let count = schema[entity].slots.count
            return RowSource(count: chosen.count) { range, target in
                for number in range {
                    let index = chosen[number], row = all.row(index)
                    // Only the store knows the version that the row had before.
                    let version: Int64 = written == nil ? 1 : 0
                    let cells = target.appendRow(key: result[index].key, version: version, entity: entity, slots: count)
                    cells.update(repeating: .null, count: count)
                    // Inherited slots come first, so the slots of the upsert's entity are the first slots of each of its subentities.
                    for slot in 0..<slots where written?.contains(slot) ?? true { cells[slot] = row[slot] }
                }
            }
        }
        var changes: [EntityIndex: EntityChanges] = [:]
        for (entity, chosen) in Dictionary(grouping: result.indices, by: { result[$0].entity }) {
            var change = EntityChanges(entity: entity)
            let updated = chosen.filter { !result[$0].isInserted }, inserted = chosen.filter { result[$0].isInserted }
            if !updated.isEmpty {
                change.updates = [RowUpdate(mask: update, checksVersion: false, rows: source(updated, entity, update))]
            }
            if !inserted.isEmpty { change.inserts = source(inserted, entity, nil) }
            changes[entity] = change
        }
        return ChangeSet(entities: changes.sorted { $0.key < $1.key }.map(\.value))
    }
}

extension StorageError {
    /// Returns the error for an upsert in which the row with the same values belongs to an entity that the upsert does not cover.
    public static func upsertOfAnotherEntity(_ upsert: RowUpsert, _ schema: Schema) -> StorageError {
        let name = schema.entities[upsert.entity].name
        return StorageError(
            .uniqueConstraintViolated, "an object of an entity other than \(name) has the same \(upsert.constraint.name)",
            details: .init(entity: name, constraint: upsert.constraint.name))
    }
}
