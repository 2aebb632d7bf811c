/// A check of all objects of a migrated store for nil in required attributes and to-one relationships.
package struct RequiredValues {
    private static let most = 20
    private let session: ReadSession

    /// Creates the check of a session of the newer version.
    package init(_ session: ReadSession) { self.session = session }

    /// Checks all objects.
    ///
    /// - Throws: `validationFailed`, which names the entity and the property, with keys of objects.
    package func check() throws(StorageError) {
        for entity in session.schema.descriptions where !entity.isAbstract {
            for slot in entity.slots.indices where entity.slots[slot].isRequired { try check(entity, slot) }
        }
    }

    private func check(_ entity: EntityDescription, _ slot: Int) throws(StorageError) {
        let property = entity.slots[slot]
        let path = CheckedPath(steps: [], entity: entity.index, leaf: .slot(slot), type: property.type, text: property.name)
        var plan = FetchPlan(entity: entity.index, entities: [entity.index], predicate: .isNil(path), fields: .keysOnly)
        plan.limit = Self.most
        let cursor = try session.cursor(for: plan), batch = RowBatch(capacity: Self.most)
        var keys: [Int64] = []
        while try cursor.next(into: batch) { for index in 0..<batch.count { keys.append(batch.key(index)) } }
        if keys.isEmpty { return }
        let failures = keys.map { ValidationFailure(entity: entity.name, property: property.name, key: $0, "must have a value") }
        throw StorageError(
            .validationFailed,
            "the objects violate the rules of the new version after postMigration: \(entity.name).\(property.name) must have a value",
            details: .init(entity: entity.name, property: property.name, keys: keys, failures: failures))
    }
}
