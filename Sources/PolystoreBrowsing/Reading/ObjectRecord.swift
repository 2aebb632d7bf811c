internal import PolystoreStorage

/// An object that was read: its identity and its values, which do not depend on the session.
struct ObjectRecord: Sendable {
    let key: Int64
    let entity: EntityIndex
    let version: Int64
    /// The values by slot of the entity.
    let values: [ShownValue]

    /// Copies a row.
    init(_ row: borrowing RowView, _ schema: Schema, longest: Int) {
        key = row.key
        entity = row.entity
        version = row.version
        var values: [ShownValue] = []
        for (index, slot) in schema[row.entity].slots.enumerated() {
            values.append(ShownValue(row[index], as: slot.type, longest: longest))
        }
        self.values = values
    }

    /// Returns the key that a to-one relationship has; nil for none.
    func reference(_ slot: Int) -> Int64? {
        if values.indices.contains(slot), case .whole(.int(let key)) = values[slot] { key } else { nil }
    }
}
