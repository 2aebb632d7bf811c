internal import PolystoreStorage

/// The values of a source that have no exact equivalent in the target, found by reading all attributes whose type changes.
package struct ChangedValues {
    /// The values of an attribute.
    private struct Values {
        let conversion: SlotConversion
        /// The number of values without an exact equivalent.
        var count = 0
        /// The number of those that have no near value either, although the attribute is required.
        var lost = 0
        /// The first of them, or of the lost ones.
        let example: (value: Value, key: Int64, entity: String)

        /// The refusal of the values.
        var refusal: StorageError {
            conversion.refusal(example.value, example.key, example.entity, count: count, needsNil: lost > 0)
        }
    }

    private var values: [String: Values] = [:]

    /// The number of values without an exact equivalent, by attribute of the source.
    package var counts: [String: Int] { values.mapValues(\.count) }

    /// Creates the values of a transfer that changes none.
    init() {}

    /// Reads the objects that are copied.
    ///
    /// - Throws: `corrupted` for a value that cannot be read.
    init(_ model: MappedModel?, _ scope: TransferScope, _ reader: ReadSession, _ limit: WorkLimit?) throws(StorageError) {
        guard let model, model.castsValues else { return }
        for root in model.source.roots {
            var slots = SlotMask(), entities: [EntityIndex] = []
            for entity in model.source[root].family where !model.source[entity].isAbstract {
                let casts = model.conversions[entity].filter(\.isCast)
                if casts.isEmpty { continue }
                slots.formUnion(SlotMask(casts.map(\.slot)))
                entities.append(entity)
            }
            if entities.isEmpty { continue }
            if !scope.isWhole(root) {
                try scope.forEachChosenRow(root, reader) { batch throws(StorageError) in
                    try limit?.check()
                    try add(batch, model)
                }
                continue
            }
            let cursor = try reader.cursor(for: FetchPlan(entity: root, entities: entities, fields: .some(slots)))
            let batch = RowBatch(capacity: 1024)
            while try cursor.next(into: batch) {
                try limit?.check()
                try add(batch, model)
            }
        }
    }

    private mutating func add(_ batch: RowBatch, _ model: MappedModel) throws(StorageError) {
        for index in 0..<batch.count {
            let row = batch.row(index)
            for conversion in model.conversions[row.entity] where conversion.isCast && !row[conversion.slot].isNull {
                let value = try model.value(conversion, row), isLost: Bool
                switch conversion.convert(value) {
                case .exact: continue
                case .nearest: isLost = false
                case .none: isLost = true
                }
                let example = (value, row.key, model.source.entities[row.entity].name)
                var found = values[conversion.path] ?? Values(conversion: conversion, example: example)
                if isLost, found.lost == 0 {
                    found = Values(conversion: conversion, count: found.count, example: example)
                }
                found.count += 1
                if isLost { found.lost += 1 }
                values[conversion.path] = found
            }
        }
    }

    /// Returns why the values are refused, attribute by attribute.
    ///
    /// - Parameter accepted: The attributes that may have the nearest values.
    func refusals(_ accepted: Set<String>) -> [StorageError] {
        values.sorted { $0.key < $1.key }.filter { !accepted.contains($0.key) || $0.value.lost > 0 }.map(\.value.refusal)
    }

    /// Refuses values without an exact equivalent, unless the nearest ones are accepted.
    ///
    /// - Throws: `dataLossRefused`.
    func refuse(_ accepted: Set<String>) throws(StorageError) {
        let refusals = refusals(accepted)
        guard let first = refusals.first else { return }
        throw StorageError(.dataLossRefused, refusals.map(\.message).joined(separator: "; "), details: first.details)
    }
}
