/// The values of a store that are too long for an index.
package struct LongValues {
    private let reader: ReadSession

    package init(in reader: ReadSession) { self.reader = reader }

    /// Returns whether values of a property can be too long.
    package static func canBe(_ slot: Slot) -> Bool {
        switch slot.attribute?.type {
        case .string, .url, .data: true
        default: false
        }
    }

    /// Returns the keys of objects of some entities of a hierarchy that have such a value. All objects are read, apart from the shorter
    /// texts, which the store leaves out.
    ///
    /// - Parameters:
    ///   - slot: The slot of the property.
    ///   - entity: The entity of the property.
    ///   - entities: The entities of the objects; only that one by default.
    ///   - most: The maximum number of keys.
    package func keys(
        _ slot: Int, of entity: EntityDescription, in entities: [EntityIndex]? = nil, most: Int
    ) throws(StorageError) -> [Int64] {
        let property = entity.slots[slot]
        if !Self.canBe(property) { return [] }
        var predicate = CheckedPredicate.constant(true)
        if property.type == .string {
            // A character has at most four bytes. Engines count characters themselves.
            let path = CheckedPath(steps: [], entity: entity.index, leaf: .slot(slot), type: property.type, text: property.name)
            predicate = .compare(
                .function(.length, [.path(path)], .int64), .greater,
                .value(.int(Int64(EntityDescription.maximumIndexedBytes / 4)), .int64))
        }
        var plan = FetchPlan(entity: entity.index, entities: entities ?? [entity.index], predicate: predicate), fields = SlotMask()
        fields.insert(slot)
        plan.fields = .some(fields)
        let cursor = try reader.cursor(for: plan), batch = RowBatch()
        var found: [Int64] = []
        while try cursor.next(into: batch) {
            for position in 0..<batch.count where Self.isLong(batch.row(position)[slot]) {
                found.append(batch.key(position))
                if found.count == most { return found }
            }
        }
        return found
    }

    private static func isLong(_ cell: Cell) -> Bool {
        switch cell.kind {
        case .text, .blob: cell.bytes.count > EntityDescription.maximumIndexedBytes
        case .null, .int, .real: false
        }
    }
}
