internal import PolystoreStorage

/// Converts rows of a source to rows of the mapped model.
final class MappedRows {
    private let model: MappedModel
    private let accepted: Set<String>?
    private let rows: RowBatch

    /// - Parameter accepted: The attributes that may have the nearest value, or nil, as paths in the source; nil if each may have any.
    init(_ model: MappedModel, accepting accepted: Set<String>?, capacity: Int) {
        self.model = model
        self.accepted = accepted
        rows = RowBatch(capacity: capacity)
    }

    /// Returns the rows of a batch in the form of the target. They are valid until the next call and as long as the rows of the batch are.
    ///
    /// - Throws: `dataLossRefused` for a value that cannot be converted exactly, unless its attribute may have another one.
    func convert(_ batch: RowBatch) throws(StorageError) -> RowBatch {
        rows.clear()
        for index in 0..<batch.count {
            let row = batch.row(index), count = model.source[row.entity].slots.count
            let cells = rows.appendRow(key: row.key, version: row.version, entity: model.entities[row.entity], slots: count)
            cells.update(from: row.cells, count: count)
            for conversion in model.conversions[row.entity] where !row[conversion.slot].isNull {
                cells[conversion.slot] = try cell(conversion, row)
            }
        }
        return rows
    }

    private func cell(_ conversion: SlotConversion, _ row: borrowing RowView) throws(StorageError) -> Cell {
        let value = try model.value(conversion, row)
        switch conversion.convert(value) {
        case .exact(let value): return rows.cell(for: value)
        case .nearest(let nearest):
            if accepted?.contains(conversion.path) ?? true { return rows.cell(for: nearest) }
        case .none:
            if accepted == nil { return .null }
        }
        let entity = model.source.entities[row.entity].name
        throw conversion.refusal(value, row.key, entity, count: 1, needsNil: !conversion.attribute.isOptional)
    }
}

extension MappedModel {
    /// Returns the value of a row of the source.
    ///
    /// - Throws: `corrupted` if it is damaged.
    func value(_ conversion: SlotConversion, _ row: borrowing RowView) throws(StorageError) -> Value {
        if let value = Value(row[conversion.slot], as: conversion.type) { return value }
        let entity = source[row.entity]
        throw StorageError(
            .corrupted,
            "\(entity.name).\(entity.slots[conversion.slot].name) of object \(row.key) contains ill-formed bytes; restore a backup of the "
                + "store",
            details: .init(entity: entity.name, property: entity.slots[conversion.slot].name, keys: [row.key]))
    }
}

extension SlotConversion {
    /// Returns the error for values that have no exact equivalent.
    ///
    /// - Parameters:
    ///   - value: One of the values, of the object with `key` and of `entity`.
    ///   - count: The number of the values.
    ///   - needsNil: Whether some of them have no near value either.
    func refusal(_ value: Value, _ key: Int64, _ entity: String, count: Int, needsNil: Bool) -> StorageError {
        let type = attribute.type.rawValue, name = String(path.drop { $0 != "." }.dropFirst())
        let others = count == 1 ? "" : count == 2 ? " (nor has 1 other value)" : " (nor have \(count - 1) other values)"
        let optional = needsNil ? "make the attribute optional with --type '\(path)=\(type)?', and " : ""
        return StorageError(
            .dataLossRefused,
            "\(entity).\(name) of object \(key) is \(value.description.excerpt()), which has no exact equivalent of type \(type)\(others); "
                + "\(optional)accept the nearest values with --accept-loss '\(path)'",
            details: .init(entity: entity, property: name, keys: [key]))
    }
}
