internal import PolystoreStorage

/// The columns of a table of objects: the primary key, the entity if there are several, and the properties of all entities.
struct ObjectColumns {
    private let schema: Schema
    private let isHierarchy: Bool
    private let properties: [String]
    /// The column of each slot, by entity.
    private var positions: [EntityIndex: [Int]] = [:]

    /// Creates the columns for objects of an entity and its sub-entities.
    init(_ schema: Schema, _ entity: EntityIndex) {
        self.schema = schema
        let family = schema[entity].family
        isHierarchy = family.count > 1
        var properties: [String] = []
        for member in family {
            positions[member] = schema[member].slots.map { slot in
                if let known = properties.firstIndex(of: slot.name) { return known }
                properties.append(slot.name)
                return properties.count - 1
            }
        }
        self.properties = properties
    }

    /// The names of the columns.
    var names: [String] { ["key"] + (isHierarchy ? ["entity"] : []) + properties }

    /// Returns the values of a row. Properties that its entity does not have are nil.
    func values(_ row: borrowing RowView) throws(StorageError) -> [Value] {
        let description = schema[row.entity]
        var values = [Value](repeating: .null, count: properties.count)
        for (index, slot) in description.slots.enumerated() {
            guard let position = positions[row.entity]?[index] else { continue }
            guard let value = Value(row[index], as: slot.type) else {
                throw StorageError(
                    .corrupted,
                    "\(description.name).\(slot.name) of object \(row.key) contains ill-formed bytes; restore a backup of the store")
            }
            values[position] = value
        }
        return [.int(row.key)] + (isHierarchy ? [.string(description.name)] : []) + values
    }
}
