internal import PolystoreStorage

extension ManagedObject {
    /// Returns the present values as a row.
    func encodedRow() -> RowBatch {
        let batch = RowBatch(capacity: 1)
        encode(into: batch)
        return batch
    }

    /// Appends the present values as a row to a batch.
    func encode(into batch: RowBatch) {
        complete()
        let cells = batch.appendRow(key: _key, version: _version, entity: Int(_entity), slots: description.slots.count)
        _encode(cells, batch, .max)
    }

    /// Returns the present values by stored name.
    func currentValues() -> [String: Value] {
        // A view does not retain its batch.
        let batch = encodedRow()
        return withExtendedLifetime(batch) { values(batch.row(0)) }
    }

    /// Returns the values of a row of this object's entity by stored name.
    func values(_ row: borrowing RowView) -> [String: Value] {
        var values: [String: Value] = [:]
        for (index, slot) in description.slots.enumerated() { values[slot.name] = Value(row[index], as: slot.type) ?? .null }
        return values
    }
}
