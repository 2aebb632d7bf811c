internal import PolystoreStorage

/// The properties of a store of which objects have values that are too long for an index.
struct UnindexableProperties {
    private struct Column: Hashable {
        let entity: EntityIndex
        let slot: Int
    }

    private let store: OpenStore
    private let limit: WorkLimit?
    private var known: [Column: Bool] = [:]

    init(in store: OpenStore, _ limit: WorkLimit?) {
        self.store = store
        self.limit = limit
    }

    /// Whether an object of an entity or its descendants has such a value. The objects are read once for each property.
    mutating func contain(_ slot: Int, of entity: EntityIndex) throws(StorageError) -> Bool {
        let description = store.schema[entity]
        // An indexed property has no such values.
        if !LongValues.canBe(description.slots[slot]) || description.isIndexed(slot) { return false }
        let column = Column(entity: entity, slot: slot)
        if let found = known[column] { return found }
        let reader = try store.beginRead(ReadOptions(limit: limit))
        defer { reader.end() }
        let found = try !LongValues(in: reader).keys(slot, of: description, in: description.family, most: 1).isEmpty
        known[column] = found
        return found
    }
}
