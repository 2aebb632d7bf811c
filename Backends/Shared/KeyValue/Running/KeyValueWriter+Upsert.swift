internal import PolystoreStorage

extension KeyValueWriter {
    /// Inserts or updates rows by a unique constraint, with one seek in the constraint's index for each row.
    func upsert(_ upsert: RowUpsert) throws(StorageError) -> [UpsertedRow] {
        try finishLoading()
        guard let index = core.layout.indexes[upsert.entity].first(where: { $0.constraint == upsert.constraint }) else {
            throw StorageError(.invalidConfiguration, "the store has no index for the unique constraint \(upsert.constraint.name)")
        }
        let family = core.schema[upsert.entity].family, slots = core.schema[upsert.entity].slots.count, mask = upsert.update
        let rows = RowBatch(capacity: 512), one = RowBatch(capacity: 1)
        var result: [UpsertedRow] = []
        result.reserveCapacity(upsert.rows.count)
        try upsert.rows.forEachBatch(rows) { batch throws(StorageError) in
            for number in 0..<batch.count {
                one.clear()
                guard let found = try indexes.find(batch.row(number), index) else {
                    one.append(copying: batch.row(number), slots: slots)
                    try insert(upsert.entity, RowSource(count: 1) { _, target in target.append(copying: one.row(0), slots: slots) })
                    result.append(UpsertedRow(key: batch.key(number), entity: upsert.entity, isInserted: true))
                    continue
                }
                let entity = try oldRow(upsert.entity, core.layout.rows[upsert.entity], found).entity
                guard family.contains(entity) else { throw .upsertOfAnotherEntity(upsert, core.schema) }
                // Inherited slots come first, so the cells of the requested entity are the first cells of a subentity.
                let cells = one.appendRow(key: found, version: 0, entity: entity, slots: core.schema[entity].slots.count)
                cells.update(repeating: .null, count: core.schema[entity].slots.count)
                for slot in mask.slots { cells[slot] = batch.row(number)[slot] }
                let update = RowUpdate(
                    mask: mask, checksVersion: false,
                    rows: RowSource(count: 1) { [count = core.schema[entity].slots.count] _, target in
                        target.append(copying: one.row(0), slots: count)
                    })
                try unindex(entity, update)
                try self.update(entity, update)
                result.append(UpsertedRow(key: found, entity: entity, isInserted: false))
            }
        }
        return result
    }
}
