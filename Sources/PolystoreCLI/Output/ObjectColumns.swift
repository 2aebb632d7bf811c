internal import PolystoreStorage
internal import PolystoreTransfer

/// The columns of a table of objects: the primary key, the entity if there are several, and the properties of all entities.
struct ObjectColumns {
    private let schema: Schema
    private let isHierarchy: Bool
    private let properties: [String]
    /// The column of each slot, by entity.
    private var positions: [EntityIndex: [Int]] = [:]
    /// The slot of each column, by entity; -1 for a property that the entity does not have.
    private var slotsByColumn: [EntityIndex: [Int]] = [:]

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
        for (member, columns) in positions {
            var slots = [Int](repeating: -1, count: properties.count)
            for (slot, column) in columns.enumerated() { slots[column] = slot }
            slotsByColumn[member] = slots
        }
    }

    /// The names of the columns. That of a property with the name of one before begins with a period, as in an archive.
    var names: [String] {
        let first = ["key"] + (isHierarchy ? ["entity"] : [])
        return first + properties.map { first.contains($0) ? ".\($0)" : $0 }
    }

    /// Returns the values of a row. Properties that its entity does not have are nil.
    func values(_ row: borrowing RowView) throws(StorageError) -> [Value] {
        let description = schema[row.entity]
        var values = [Value](repeating: .null, count: properties.count)
        for (index, slot) in description.slots.enumerated() {
            guard let position = positions[row.entity]?[index] else { continue }
            guard let value = Value(row[index], as: slot.type) else { throw Self.illFormed(description.name, slot.name, row.key) }
            values[position] = value
        }
        return [.int(row.key)] + (isHierarchy ? [.string(description.name)] : []) + values
    }

    /// Appends the members of a JSON object with the values of a row.
    ///
    /// - Parameter names: The quoted names of the columns, with a colon.
    func append(_ row: borrowing RowView, _ names: [[UInt8]], to bytes: inout [UInt8]) throws(StorageError) {
        let description = schema[row.entity], slots = description.slots
        bytes += names[0]
        bytes += String(row.key).utf8
        if isHierarchy {
            bytes.append(UInt8(ascii: ","))
            bytes += names[1]
            bytes += JSONWriter.quoted(description.name).utf8
        }
        let first = names.count - properties.count
        for (column, slot) in (slotsByColumn[row.entity] ?? []).enumerated() {
            bytes.append(UInt8(ascii: ","))
            bytes += names[first + column]
            if slot < 0 || row[slot].isNull {
                bytes += Self.null
            } else if !RowLines.append(row[slot], slots[slot].type, to: &bytes) {
                throw Self.illFormed(description.name, slots[slot].name, row.key)
            }
        }
    }

    private static let null = Array("null".utf8)

    private static func illFormed(_ entity: String, _ property: String, _ key: Int64) -> StorageError {
        StorageError(
            .corrupted, "\(entity).\(property) of object \(key) contains ill-formed bytes; restore a backup of the store",
            details: .init(entity: entity, property: property, keys: [key]))
    }
}
