/// Checks of rows that a store changes in place, performed before anything is changed. Rows that are written from scratch are checked one
/// by one as they are written.
package struct MigrationChecks {
    /// The maximum number of objects that an error names.
    private static let mostNamed = 20

    private let mapping: SchemaMapping
    private let source: ReadSession

    /// Creates the checks of a migration step.
    package init(_ mapping: SchemaMapping, _ source: ReadSession) {
        self.mapping = mapping
        self.source = source
    }

    /// Checks the hierarchies of the newer version that the store changes in place.
    ///
    /// - Parameter exceptValues: Whether nil is allowed, because `RequiredValues` checks it after work of the program.
    /// - Throws: `validationFailed`, and `valueTooLarge` for values that a new index does not hold. Both name the entity and the property, with
    ///   keys of objects.
    package func check(inPlace roots: Set<EntityIndex>, exceptValues: Bool = false) throws(StorageError) {
        for part in mapping.entities where roots.contains(mapping.destination[part.destination].root) {
            let before = mapping.source[part.source], after = mapping.destination[part.destination]
            for (slot, origin) in part.slots.enumerated() {
                let new = after.slots[slot]
                guard case .slot(let position, let fallback) = origin else {
                    if origin == .value(.null), new.isRequired, !exceptValues {
                        try refuse(before, .constant(true), after, new.name, "must have a value")
                    }
                    continue
                }
                let old = before.slots[position]
                let path = CheckedPath(steps: [], entity: part.source, leaf: .slot(position), type: old.type, text: old.name)
                switch (old.content, new.content) {
                case (.attribute(let old), .attribute(let new)):
                    if after.isIndexed(slot), !before.isIndexed(position) { try refuseLong(position, before, after, new.name) }
                    if old.isOptional, !new.isOptional, fallback.isNull, !exceptValues {
                        try refuse(before, .isNil(path), after, new.name, "must have a value")
                    }
                    if let range = range(old.type, new.type) {
                        try refuse(before, outside(range, path), after, new.name, "must be in the range of \(new.type.rawValue)")
                    }
                    let isNarrower = !Set(old.allowedValues).isSubset(of: new.allowedValues) || old.allowedValues.isEmpty
                    if !new.allowedValues.isEmpty, isNarrower {
                        let allowed = new.allowedValues.sorted { $0.compare(to: $1) < 0 }
                        let other = CheckedPredicate.and([.not(.isNil(path)), .not(.isIn(.path(path), allowed))])
                        try refuse(before, other, after, new.name, "must have one of its allowed values")
                    }
                case (.toOne(let old, _), .toOne(let new, _)):
                    if old.isOptional, !new.isOptional, !exceptValues {
                        try refuse(before, .isNil(path), after, new.name, "must have a value")
                    }
                case (.attribute, .toOne), (.toOne, .attribute): break
                }
            }
        }
    }

    private func range(_ old: ValueType, _ new: ValueType) -> ClosedRange<Int64>? {
        if case .ranged(let range)? = CellConversion(from: old, to: new) { range } else { nil }
    }

    private func outside(_ range: ClosedRange<Int64>, _ path: CheckedPath) -> CheckedPredicate {
        .or([.compare(path, .less, .int(range.lowerBound)), .compare(path, .greater, .int(range.upperBound))])
    }

    private func refuseLong(
        _ slot: Int, _ before: EntityDescription, _ after: EntityDescription, _ property: String
    ) throws(StorageError) {
        let keys = try LongValues(in: source).keys(slot, of: before, most: Self.mostNamed)
        if keys.isEmpty { return }
        throw StorageError(
            .valueTooLarge,
            "\(after.name).\(property) has values of more than \(EntityDescription.maximumIndexedBytes) bytes, which its index in the "
                + "new version does not hold; shorten them, or leave the index out",
            details: .init(entity: after.name, property: property, keys: keys))
    }

    private func refuse(
        _ entity: EntityDescription, _ predicate: CheckedPredicate, _ after: EntityDescription, _ property: String, _ message: String
    ) throws(StorageError) {
        var plan = FetchPlan(entity: entity.index, entities: [entity.index], predicate: predicate, fields: .keysOnly)
        plan.limit = Self.mostNamed
        let cursor = try source.cursor(for: plan), batch = RowBatch()
        var keys: [Int64] = []
        while try cursor.next(into: batch) { for index in 0..<batch.count { keys.append(batch.key(index)) } }
        if keys.isEmpty { return }
        let failures = keys.map { ValidationFailure(entity: after.name, property: property, key: $0, message) }
        throw StorageError(
            .validationFailed, "the objects violate the rules of the new version: \(after.name).\(property) \(message)",
            details: .init(entity: after.name, property: property, keys: keys, failures: failures))
    }
}

extension Slot {
    /// Whether the slot refuses nil.
    var isRequired: Bool {
        switch content {
        case .attribute(let attribute): !attribute.isOptional
        case .toOne(let relationship, _): !relationship.isOptional
        }
    }
}
