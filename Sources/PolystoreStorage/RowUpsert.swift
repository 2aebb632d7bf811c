/// Rows of one entity that are added, or change the rows that have the same values under a unique constraint.
public struct RowUpsert {
    /// The entity of the rows.
    public let entity: EntityIndex
    /// The constraint, one of the entity's.
    public let constraint: ResolvedConstraint
    /// The slots that a row that is there gets; those of the constraint have the value already.
    public let mask: SlotMask
    /// The rows, with all cells and with keys of their own for the case that they are added.
    public let rows: RowSource

    /// An upsert.
    public init(entity: EntityIndex, constraint: ResolvedConstraint, mask: SlotMask, rows: RowSource) {
        self.entity = entity
        self.constraint = constraint
        self.mask = mask
        self.rows = rows
    }

    /// The slots that a row that is there gets and that can be other than they were.
    public var assigned: [Int] { mask.slots.filter { !constraint.slots.contains($0) } }

    /// The change of a row that is there.
    public var update: SlotMask {
        var mask = SlotMask()
        for slot in assigned { mask.insert(slot) }
        return mask
    }
}

extension RowUpsert {
    /// The changes that an upsert has come to, for whoever has to repeat them.
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
                    // Only the store knows which version the row had before.
                    let version: Int64 = written == nil ? 1 : 0
                    let cells = target.appendRow(key: result[index].key, version: version, entity: entity, slots: count)
                    cells.update(repeating: .null, count: count)
                    // Inherited slots come first: those of the asked entity are the first ones of one below it.
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

/// What became of a row of an upsert.
public struct UpsertedRow: Sendable, Hashable {
    /// The key of the row that now has the values.
    public let key: Int64
    /// The entity of that row, which can be one below that of the upsert.
    public let entity: EntityIndex
    /// Whether it was added.
    public let isInserted: Bool

    /// A result.
    public init(key: Int64, entity: EntityIndex, isInserted: Bool) {
        self.key = key
        self.entity = entity
        self.isInserted = isInserted
    }
}

extension StorageError {
    /// What an upsert meets when the row that has the values is of an entity that it was not meant for.
    public static func upsertOfAnotherEntity(_ upsert: RowUpsert, _ schema: Schema) -> StorageError {
        let name = schema.entities[upsert.entity].name
        return StorageError(
            .uniqueConstraintViolated, "an object of another entity than \(name) has the same \(upsert.constraint.name)",
            details: .init(entity: name, constraint: upsert.constraint.name))
    }
}
