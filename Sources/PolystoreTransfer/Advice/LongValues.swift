internal import PolystoreStorage

/// The properties of a store of which objects have values that are too long for an index.
struct LongValues {
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

    /// Whether an object of an entity or its descendants has such a value. All objects are read, once for each property.
    mutating func contain(_ slot: Int, of entity: EntityIndex) throws(StorageError) -> Bool {
        let description = store.schema[entity]
        switch description.slots[slot].attribute?.type {
        case .string, .url, .data: break
        default: return false
        }
        // An indexed property has no such values.
        if description.isIndexed(slot) { return false }
        let column = Column(entity: entity, slot: slot)
        if let found = known[column] { return found }
        let found = try isFound(slot, entity)
        known[column] = found
        return found
    }

    private func isFound(_ slot: Int, _ entity: EntityIndex) throws(StorageError) -> Bool {
        let plan = try plan(slot, entity), reader = try store.beginRead(ReadOptions(limit: limit))
        defer { reader.end() }
        let cursor = try reader.cursor(for: plan), batch = RowBatch()
        while try cursor.next(into: batch) {
            for position in 0..<batch.count where isLong(batch.row(position)[slot]) { return true }
        }
        return false
    }

    private func isLong(_ cell: Cell) -> Bool {
        switch cell.kind {
        case .text, .blob: cell.bytes.count > EntityDescription.maximumIndexedBytes
        case .null, .int, .real: false
        }
    }

    private func plan(_ slot: Int, _ entity: EntityIndex) throws(StorageError) -> FetchPlan {
        let description = store.schema[entity], property = description.slots[slot]
        var request = ObjectRequest(description.name)
        if property.attribute?.type == .string {
            // A character has at most four bytes. Engines count characters themselves.
            request.predicate = .compare(
                .function(.length, [.path(PropertyPath([property.name]))]), .greater,
                .value(.int(Int64(EntityDescription.maximumIndexedBytes / 4))))
        }
        do throws(QueryError) {
            var plan = try request.plan(in: store.schema), fields = SlotMask()
            fields.insert(slot)
            plan.fields = .some(fields)
            return plan
        } catch {
            throw StorageError(error)
        }
    }
}
