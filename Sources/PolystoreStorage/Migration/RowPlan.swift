/// The conversion of a row of the older version into a row of the newer version, slot by slot and without boxing values.
///
/// A class rather than a structure, because it is accessed for each row. Its steps contain no references that would have to be counted.
final class RowPlan {
    private enum Step {
        /// A value that is the same for all rows.
        case value(Cell)
        /// The converted cell of a slot, or `ifNil` if the cell is nil.
        case cell(Int, CellConversion, ifNil: Cell)
        /// The key in a slot, raised by the offset of its new hierarchy.
        case key(Int, offset: Int64)
    }

    /// A requirement for the value of a slot in the newer version.
    private struct Rule {
        let slot: Int
        let isRequired: Bool
        let allowed: [Value]
    }

    let mapping: EntityMapping
    let entity: EntityDescription
    let shape: ObjectShape
    private let steps: [Step]
    /// The initial values of the attributes of a new object.
    private let defaults: [Cell]
    private let rules: [Rule]
    private let schemas: SchemaMapping
    /// The objects that each to-one relationship accepts; nil for an attribute. Only transformers need them.
    private(set) lazy var targets: [ReferenceTarget?] = shape.destinations.map { $0.map { ReferenceTarget($0, schemas) } }
    /// The batch that contains the bytes of constant cells.
    private let constants = RowBatch(capacity: 1)

    /// - Parameter exceptValues: Whether nil is allowed, because `RequiredValues` checks it after work of the program.
    init(_ mapping: EntityMapping, _ schemas: SchemaMapping, _ keys: MigrationKeys, exceptValues: Bool) {
        self.mapping = mapping
        self.schemas = schemas
        let entity = schemas.destination[mapping.destination]
        self.entity = entity
        shape = ObjectShape(entity)
        let before = schemas.source[mapping.source], old = schemas.source, constants = constants
        steps = zip(entity.slots, mapping.slots).map { slot, origin in
            switch origin {
            case .value(let value): return .value(constants.cell(for: value))
            case .slot(let position, let fallback):
                let source = before.slots[position]
                if let destination = source.destination, let target = slot.destination {
                    let offset = keys.key(0, from: old[destination].root, inHierarchyOf: target)
                    return .key(position, offset: offset)
                }
                guard let conversion = CellConversion(from: source.type, to: slot.type) else { return .value(.null) }
                return .cell(position, conversion, ifNil: constants.cell(for: fallback))
            }
        }
        defaults = entity.slots.map { $0.attribute?.defaultValue.map(constants.cell) ?? .null }
        rules = entity.slots.indices.compactMap { slot in
            switch entity.slots[slot].content {
            case .attribute(let attribute):
                if attribute.isOptional && attribute.allowedValues.isEmpty { return nil }
                return Rule(slot: slot, isRequired: !attribute.isOptional && !exceptValues, allowed: attribute.allowedValues)
            case .toOne(let relationship, _):
                return relationship.isOptional || exceptValues ? nil : Rule(slot: slot, isRequired: true, allowed: [])
            }
        }
    }

    /// Whether rows have to be checked.
    var hasRules: Bool { !rules.isEmpty }

    /// Appends the row that results from converting another row.
    func append(_ row: borrowing RowView, key: Int64, _ out: RowBatch, _ problems: MigrationProblems) {
        let cells = out.appendRow(key: key, version: row.version, entity: entity.index, slots: steps.count)
        for (slot, step) in steps.enumerated() {
            switch step {
            case .value(let cell): cells[slot] = out.keeping(cell)
            case .key(let position, let offset):
                let cell = row[position]
                cells[slot] = cell.isNull ? cell : .int(cell.int &+ offset)
            case .cell(let position, let conversion, let fallback):
                let cell = row[position]
                let converted = cell.isNull ? fallback : conversion.apply(cell, out) ?? .null
                if converted.isNull, !cell.isNull { noteRange(key, slot, problems) }
                cells[slot] = out.keeping(converted)
            }
        }
        if !rules.isEmpty { check(out.row(out.count - 1), problems) }
    }

    /// Appends a row with the default values of the attributes and the converted to-one relationships.
    func appendEmpty(_ source: UnsafeSourceObject, key: Int64, _ out: RowBatch) {
        let cells = out.appendRow(key: key, version: source.version, entity: entity.index, slots: steps.count)
        for (slot, step) in steps.enumerated() {
            if case .key(let position, let offset) = step {
                let cell = source.cell(position)
                cells[slot] = cell.isNull ? cell : .int(cell.int &+ offset)
            } else {
                cells[slot] = out.keeping(defaults[slot])
            }
        }
    }

    /// Sets the attributes of a row that are mapped from an object of the mapped entity or of one of its child entities, whose slots begin
    /// with those of the mapped entity.
    func copyAttributes(of source: UnsafeSourceObject, to index: Int, _ out: RowBatch, _ problems: MigrationProblems) {
        let cells = out.mutableCells(index)
        for (slot, step) in steps.enumerated() {
            guard case .cell(let position, let conversion, let fallback) = step else { continue }
            let cell = source.cell(position), converted = cell.isNull ? fallback : conversion.apply(cell, out) ?? .null
            if converted.isNull, !cell.isNull { noteRange(out.key(index), slot, problems) }
            cells[slot] = out.keeping(converted)
            source.shape.noteUse(of: position)
            shape.noteUse(of: slot)
        }
    }

    /// Returns whether the attributes of an object can be copied.
    func canCopy(_ source: UnsafeSourceObject) -> Bool {
        source.entity.index == mapping.source || schemas.source[mapping.source].family.contains(source.entity.index)
    }

    private func noteRange(_ key: Int64, _ slot: Int, _ problems: MigrationProblems) {
        problems.add(key, entity, entity.slots[slot].name, "must be in the range of \(entity.slots[slot].type.rawValue)")
    }

    /// Records the rules that a row violates.
    func check(_ row: borrowing RowView, _ problems: MigrationProblems) {
        for rule in rules {
            let cell = row[rule.slot]
            if cell.isNull {
                if rule.isRequired { problems.add(row.key, entity, entity.slots[rule.slot].name, "must have a value") }
            } else if !rule.allowed.isEmpty, let value = Value(cell, as: entity.slots[rule.slot].type), !rule.allowed.contains(value) {
                problems.add(row.key, entity, entity.slots[rule.slot].name, "must have one of its allowed values")
            }
        }
    }
}

extension RowBatch {
    /// Returns a cell whose bytes are copied into this batch.
    @inline(__always)
    func keeping(_ cell: Cell) -> Cell {
        if cell.length == 0 { return cell }
        var kept = cell
        kept.bits = UInt64(UInt(bitPattern: copy(cell.bytes)))
        return kept
    }
}
