public import PolystoreSchema

/// The meaning of a predicate: whether it is true of a row.
///
/// Constants are encoded once; evaluating allocates nothing for a row whose paths are local.
public final class PredicateEvaluator {
    private indirect enum Node {
        case constant(Bool)
        case isNil(PathReader)
        case compare(PathReader, Comparison, Cell)
        case comparePaths(PathReader, ValueType, Comparison, PathReader, ValueType)
        case isIn(PathReader, [Cell])
        case text(PathReader, TextMatch, Cell)
        case isEntity(Set<EntityIndex>)
        case and([Node])
        case or([Node])
        case not(Node)
    }

    private let root: Node
    /// The bytes of the constants.
    private let constants = RowBatch(capacity: 1)

    /// An evaluator of a checked predicate.
    public init(_ predicate: CheckedPredicate, schema: Schema) {
        root = Self.node(predicate, schema, constants)
    }

    private static func node(_ predicate: CheckedPredicate, _ schema: Schema, _ constants: RowBatch) -> Node {
        func reader(_ path: CheckedPath) -> PathReader { PathReader(path, schema: schema) }
        switch predicate {
        case .constant(let value): return .constant(value)
        case .isNil(let path): return .isNil(reader(path))
        case .compare(let path, let comparison, let value): return .compare(reader(path), comparison, constants.cell(for: value))
        case .comparePaths(let a, let comparison, let b): return .comparePaths(reader(a), a.type, comparison, reader(b), b.type)
        case .isIn(let path, let values): return .isIn(reader(path), values.map(constants.cell(for:)))
        case .text(let path, let match, let needle): return .text(reader(path), match, constants.cell(for: .string(needle)))
        case .isEntity(let entities): return .isEntity(Set(entities))
        case .and(let parts): return .and(parts.map { node($0, schema, constants) })
        case .or(let parts): return .or(parts.map { node($0, schema, constants) })
        case .not(let part): return .not(node(part, schema, constants))
        }
    }

    /// Whether the predicate is true of a row.
    public func matches(_ row: borrowing RowView, _ related: borrowing some RelatedRows) -> Bool { Self.evaluate(root, row, related) }

    private static func evaluate(_ node: Node, _ row: borrowing RowView, _ related: borrowing some RelatedRows) -> Bool {
        switch node {
        case .constant(let value): return value
        case .isNil(let path): return path.cell(row, related).isNull
        case .compare(let path, let comparison, let constant):
            let cell = path.cell(row, related)
            return cell.isNull ? comparison == .notEqual : comparison.holds(CellOrder.compare(cell, constant))
        case .comparePaths(let a, let x, let comparison, let b, let y):
            return compare(a.cell(row, related), x, comparison, b.cell(row, related), y)
        case .isIn(let path, let constants): return contains(constants, path.cell(row, related))
        case .text(let path, let match, let needle): return matches(path.cell(row, related), match, needle)
        case .isEntity(let entities): return entities.contains(row.entity)
        case .and(let parts):
            for part in parts where !evaluate(part, row, related) { return false }
            return true
        case .or(let parts):
            for part in parts where evaluate(part, row, related) { return true }
            return false
        case .not(let part): return !evaluate(part, row, related)
        }
    }

    private static func compare(_ a: Cell, _ x: ValueType, _ comparison: Comparison, _ b: Cell, _ y: ValueType) -> Bool {
        switch (a.isNull, b.isNull, comparison) {
        case (false, false, _): comparison.holds(CellOrder.compareNumbers(a, x, b, y))
        case (true, true, .equal), (true, false, .notEqual), (false, true, .notEqual): true
        case (_, _, _): false
        }
    }

    /// Binary search: the constants ascend.
    private static func contains(_ constants: [Cell], _ cell: Cell) -> Bool {
        if cell.isNull { return false }
        var low = 0, high = constants.count
        while low < high {
            let middle = (low + high) / 2
            let order = CellOrder.compare(constants[middle], cell)
            if order == 0 { return true }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return false
    }

    private static func matches(_ cell: Cell, _ match: TextMatch, _ needle: Cell) -> Bool {
        if cell.isNull || cell.length < needle.length { return false }
        let text = cell.bytes, wanted = needle.bytes
        switch match {
        case .beginsWith: return compareBytes(UnsafeRawBufferPointer(rebasing: text[0..<wanted.count]), wanted) == 0
        case .endsWith: return compareBytes(UnsafeRawBufferPointer(rebasing: text[(text.count - wanted.count)...]), wanted) == 0
        case .contains:
            return (0...(text.count - wanted.count)).contains { start in
                text[start] == wanted[0]
                    && compareBytes(UnsafeRawBufferPointer(rebasing: text[start..<(start + wanted.count)]), wanted) == 0
            }
        }
    }
}
