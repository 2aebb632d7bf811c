internal import PolystoreStorage

/// An index of the keys of objects by the values of some of their attributes, with which the relationships of files are resolved.
final class LoadedKeys {
    /// The result of a lookup.
    enum Found: Equatable {
        case nothing
        case one(Int64)
        case several
    }

    /// The entity of the objects.
    let entity: EntityIndex
    /// The slots of the attributes whose values are indexed.
    let slots: [Int]
    /// Whether the store had objects of the entity before the load.
    private(set) var hasStored = false
    private var keys: [[Value]: Int64] = [:]
    private var ambiguous: Set<[Value]> = []

    init(_ entity: EntityIndex, _ slots: [Int]) {
        self.entity = entity
        self.slots = slots
    }

    /// Adds the objects of a store.
    func addStored(_ reader: ReadSession) throws(StorageError) {
        let schema = reader.schema
        var mask = SlotMask()
        for slot in slots { mask.insert(slot) }
        let cursor = try reader.cursor(for: FetchPlan(schema, entity, fields: .some(mask))), batch = RowBatch(capacity: 1024)
        while try cursor.next(into: batch) {
            for index in 0..<batch.count {
                hasStored = true
                let row = batch.row(index)
                var values: [Value] = []
                for slot in slots {
                    guard let value = Value(row[slot], as: schema[entity].slots[slot].type) else {
                        let name = "\(schema[row.entity].name).\(schema[entity].slots[slot].name)"
                        throw StorageError(
                            .corrupted, "\(name) of object \(row.key) contains ill-formed bytes; restore a backup of the store")
                    }
                    if !value.isNull { values.append(value) }
                }
                if values.count == slots.count { add(values, row.key) }
            }
        }
    }

    /// Adds an object.
    func add(_ values: [Value], _ key: Int64) {
        if keys.updateValue(key, forKey: values) != nil { ambiguous.insert(values) }
    }

    /// Returns the object with the given values.
    func find(_ values: [Value]) -> Found {
        guard let key = keys[values] else { return .nothing }
        return !ambiguous.isEmpty && ambiguous.contains(values) ? .several : .one(key)
    }
}
