internal import PolystoreStorage

/// The columns of a table: the properties of an entity and of its sub-entities, each name once.
struct TableColumns {
    struct Column {
        let name: String
        let slot: Slot
        /// Whether the entity itself has the property, so that its objects can be sorted by it.
        let isOwn: Bool
        var isNumber: Bool { slot.attribute.map { $0.type.isNumeric } ?? false }
    }

    private(set) var columns: [Column] = []
    let showsEntity: Bool
    /// The slot of each column, by entity.
    private var slots: [EntityIndex: [Int: Int]] = [:]

    init(_ schema: Schema, _ entity: EntityIndex) {
        let family = schema[entity].family
        showsEntity = family.count > 1
        var positions: [String: Int] = [:]
        for member in family {
            for (index, slot) in schema[member].slots.enumerated() {
                let position = positions[slot.name] ?? columns.count
                if position == columns.count {
                    positions[slot.name] = position
                    columns.append(Column(name: slot.name, slot: slot, isOwn: schema[entity].slot(slot.name) != nil))
                }
                slots[member, default: [:]][position] = index
            }
        }
    }

    /// Returns the slot that a column has for objects of an entity; nil if they do not have the property.
    func slot(_ column: Int, _ entity: EntityIndex) -> Int? { slots[entity]?[column] }
}
