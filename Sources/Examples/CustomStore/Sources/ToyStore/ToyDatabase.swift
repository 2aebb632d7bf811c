internal import Foundation
internal import PolystoreStorage

/// All that a toy store holds.
struct ToyDatabase: Sendable {
    let schema: Schema
    /// The slots of each entity by whose values rows are looked up: to-one relationships, and the first of each unique constraint.
    private let indexed: [[Int]]
    private var rows: [EntityIndex: [Int64: ToyRow]] = [:]
    private var keys: [ToyIndexEntry: Set<Int64>] = [:]
    /// The ranks of the pairs of each link table.
    var links: [Int: [ToyPair: Int64]] = [:]
    /// The next key of each hierarchy.
    var nextKeys: [EntityIndex: Int64] = [:]
    var notes: [String: Data] = [:]

    init(_ schema: Schema) {
        self.schema = schema
        indexed = schema.descriptions.map { entity in
            let references = entity.relationships.compactMap { if case .slot(let slot) = $0.place { slot } else { nil } }
            return Set(references + entity.uniqueConstraints.compactMap(\.slots.first)).sorted()
        }
    }

    /// The row of a key in the hierarchy of an entity. Setting it keeps the index.
    subscript(_ entity: EntityIndex, _ key: Int64) -> ToyRow? {
        get { rows[schema[entity].root]?[key] }
        set {
            let root = schema[entity].root
            if let old = rows[root]?[key] { for entry in entries(old) { keys[entry]?.remove(key) } }
            rows[root, default: [:]][key] = newValue
            if let newValue { for entry in entries(newValue) { keys[entry, default: []].insert(key) } }
        }
    }

    private func entries(_ row: ToyRow) -> [ToyIndexEntry] {
        indexed[row.entity].map { ToyIndexEntry(root: schema[row.entity].root, slot: $0, value: row.values[$0]) }
    }

    /// All keys in the hierarchy of an entity, in ascending order.
    func keys(_ entity: EntityIndex) -> [Int64] { rows[schema[entity].root, default: [:]].keys.sorted() }

    /// The keys of the rows with a value in a slot, in ascending order; nil where the slot is not indexed.
    func keys(_ entity: EntityIndex, _ slot: Int, _ value: ToyValue) -> [Int64]? {
        guard indexed[entity].contains(slot) else { return nil }
        return keys[ToyIndexEntry(root: schema[entity].root, slot: slot, value: value), default: []].sorted()
    }

    /// The key of another row with the same values under a constraint; nil where there is none or one of the values is nil.
    func rival(of row: ToyRow, _ key: Int64, _ constraint: ResolvedConstraint) -> Int64? {
        let values = constraint.slots.map { row.values[$0] }, family = schema[constraint.declaredIn].family
        if values.contains(.null) { return nil }
        return keys(row.entity, constraint.slots[0], values[0])?.first { other in
            guard other != key, let stored = self[row.entity, other], family.contains(stored.entity) else { return false }
            return constraint.slots.map { stored.values[$0] } == values
        }
    }
}

/// What rows are looked up by.
private struct ToyIndexEntry: Sendable, Hashable {
    let root: EntityIndex
    let slot: Int
    let value: ToyValue
}

/// The objects of a pair of a link table.
struct ToyPair: Sendable, Hashable {
    let owner: Int64
    let member: Int64
}

/// One object.
struct ToyRow: Sendable {
    let entity: EntityIndex
    var version: Int64
    var values: [ToyValue]

    /// A copy of a row.
    init(_ row: borrowing RowView, slots: Int) {
        entity = row.entity
        version = row.version
        values = []
        for slot in 0..<slots { values.append(ToyValue(row[slot])) }
    }

    /// Appends the row to a batch.
    func append(_ key: Int64, to batch: RowBatch) {
        let cells = batch.appendRow(key: key, version: version, entity: entity, slots: values.count)
        for slot in values.indices { cells[slot] = values[slot].cell(in: batch) }
    }
}

/// The value of an attribute.
enum ToyValue: Sendable, Hashable {
    case null
    case int(Int64)
    case real(Double)
    case text([UInt8])
    case blob([UInt8])

    /// A copy of a cell.
    init(_ cell: Cell) {
        switch cell.kind {
        case .null: self = .null
        case .int: self = .int(cell.int)
        case .real: self = .real(cell.real)
        case .text: self = .text(Array(cell.bytes))
        case .blob: self = .blob(Array(cell.bytes))
        }
    }

    /// A cell whose bytes lie in a batch.
    func cell(in batch: RowBatch) -> Cell {
        switch self {
        case .null: .null
        case .int(let number): .int(number)
        case .real(let number): .real(number)
        case .text(let bytes): .text(bytes.withUnsafeBytes(batch.copy), bytes.count)
        case .blob(let bytes): .blob(bytes.withUnsafeBytes(batch.copy), bytes.count)
        }
    }
}
