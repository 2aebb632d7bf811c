internal import PolystoreSchema
internal import PolystoreStorage

extension RowBatch {
    /// Returns the row at a position, if it has the layout of the model: a store with a defect must fail a case and not end the process.
    ///
    /// - Throws: `corrupted` if the store has given the row another entity or another number of cells than the model has.
    func checkedRow(_ index: Int, _ schema: Schema) throws(StorageError) -> RowView {
        let row = row(index), count = slotCount(index)
        guard schema.entities.indices.contains(row.entity) else {
            throw StorageError(.corrupted, "a row has the entity \(row.entity), and the model has \(schema.entities.count) entities")
        }
        let description = schema[row.entity]
        guard count == description.slots.count else {
            throw StorageError(.corrupted, "a row of \(description.name) has \(count) cells instead of \(description.slots.count)")
        }
        return row
    }
}
