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
    /// The keys of objects that are found by their keys.
    private var present = KeyBitmap()
    /// The other objects with the same values. Some may have other values by now.
    private var others: [[Value]: [Int64]] = [:]
    /// The number of other objects that have the same values now.
    private var otherCounts: [[Value]: Int] = [:]
    /// The values by key, if the load may assign other values to objects; otherwise nil.
    private var values: [Int64: [Value]]?

    /// - Parameter isUpdated: Whether the load may assign other values to the objects.
    init(_ entity: EntityIndex, _ slots: [Int], isUpdated: Bool) {
        self.entity = entity
        self.slots = slots
        if isUpdated { values = [:] }
    }

    /// Whether objects are found by their primary keys.
    var isByKey: Bool { slots == [LoadSearch.key] }

    /// Adds the objects of a store.
    func addStored(_ reader: ReadSession) throws(StorageError) {
        let schema = reader.schema
        if isByKey {
            let cursor = try reader.cursor(for: FetchPlan(schema, entity, fields: .keysOnly)), batch = RowBatch(capacity: 1024)
            while try cursor.next(into: batch) { for index in 0..<batch.count { present.insert(batch.key(index)) } }
            hasStored = present.count > 0
            return
        }
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
                    values.append(value)
                }
                add(values, row.key)
            }
        }
    }

    /// Adds an object, or replaces its values. An object with a nil is not found.
    func add(_ new: [Value], _ key: Int64) {
        if isByKey {
            present.insert(key)
            return
        }
        if let old = values?.updateValue(new, forKey: key) {
            if old == new { return }
            remove(key, old)
        }
        if new.contains(where: \.isNull) { return }
        guard let first = keys.updateValue(key, forKey: new) else { return }
        others[new, default: []].append(first)
        otherCounts[new, default: 0] += 1
    }

    private func remove(_ key: Int64, _ old: [Value]) {
        guard let found = keys[old] else { return }
        otherCounts[old] = otherCounts[old].flatMap { $0 > 1 ? $0 - 1 : nil }
        if found != key { return }
        // Entries of objects with other values are skipped here and not searched for when these are assigned, which would take long.
        while let other = others[old]?.popLast() {
            if values?[other] == old {
                keys[old] = other
                return
            }
        }
        keys[old] = nil
        others[old] = nil
    }

    /// Whether the load may assign other values to the objects.
    var isUpdated: Bool { values != nil }

    /// Returns the values of an object, if the load may assign other values to it.
    func values(of key: Int64) -> [Value]? { values?[key] }

    /// Returns the object with the given values.
    func find(_ values: [Value]) -> Found {
        if isByKey {
            guard case .int(let key)? = values.first, present.contains(key) else { return .nothing }
            return .one(key)
        }
        guard let key = keys[values] else { return .nothing }
        return !otherCounts.isEmpty && otherCounts[values] != nil ? .several : .one(key)
    }
}
