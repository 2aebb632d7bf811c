package import PolystoreSchema

/// Evaluates a predicate for rows.
///
/// Constants are encoded once. Evaluation allocates nothing for a row whose paths are local.
package final class PredicateEvaluator {
    private indirect enum Node {
        case constant(Bool)
        case isNil(PathReader)
        /// Conditions on properties alone, which read cells and compute no values.
        case pathIs(PathReader, ValueType, Comparison, Cell)
        case comparePaths(PathReader, ValueType, Comparison, PathReader, ValueType)
        case pathIsIn(PathReader, ValueType, [Cell])
        case pathMatches(PathReader, TextMatcher)
        /// Conditions on values that are computed.
        case compareValues(ExpressionEvaluator, Comparison, ExpressionEvaluator)
        case valueIsIn(ExpressionEvaluator, [Value])
        case valueMatches(ExpressionEvaluator, TextMatcher)
        case related(MembersReader)
        case isEntity(Set<EntityIndex>)
        case and([Node])
        case or([Node])
        case not(Node)
    }

    private let root: Node
    /// The bytes of the constants.
    private let constants = RowBatch(capacity: 1)

    private let failure: EvaluationFailure

    /// Creates an evaluator of a checked predicate.
    package convenience init(_ predicate: CheckedPredicate, schema: Schema) { self.init(predicate, schema, EvaluationFailure()) }

    /// - Parameter outer: The values that are read of the objects outside the enclosing conditions, outermost first.
    init(_ predicate: CheckedPredicate, _ schema: Schema, _ failure: EvaluationFailure, outer: [OuterValues] = []) {
        self.failure = failure
        root = Self.node(predicate, schema, constants, failure, outer)
    }

    private static func node(
        _ predicate: CheckedPredicate, _ schema: Schema, _ constants: RowBatch, _ failure: EvaluationFailure, _ outer: [OuterValues]
    ) -> Node {
        func node(_ part: CheckedPredicate) -> Node { Self.node(part, schema, constants, failure, outer) }
        func reader(_ path: CheckedPath) -> PathReader { PathReader(path, schema: schema) }
        func evaluator(_ expression: CheckedExpression) -> ExpressionEvaluator {
            ExpressionEvaluator(expression, schema, failure, outer: outer)
        }
        switch predicate {
        case .constant(let value): return .constant(value)
        case .isNil(let path): return .isNil(reader(path))
        case .compare(.path(let path), let comparison, .value(let value, _)):
            return .pathIs(reader(path), path.type, comparison, constants.cell(for: value))
        case .compare(.path(let a), let comparison, .path(let b)): return .comparePaths(reader(a), a.type, comparison, reader(b), b.type)
        case .compare(let a, let comparison, let b): return .compareValues(evaluator(a), comparison, evaluator(b))
        case .isIn(.path(let path), let values): return .pathIsIn(reader(path), path.type, values.map(constants.cell(for:)))
        case .isIn(let expression, let values): return .valueIsIn(evaluator(expression), values)
        case .text(.path(let path), let match, let needle): return .pathMatches(reader(path), TextMatcher(match, needle.text))
        case .text(let expression, let match, let needle): return .valueMatches(evaluator(expression), TextMatcher(match, needle.text))
        case .related(let members): return .related(MembersReader(members, schema, failure, outer))
        case .isEntity(let entities): return .isEntity(Set(entities))
        case .and(let parts): return .and(parts.map(node))
        case .or(let parts): return .or(parts.map(node))
        case .not(let part): return .not(node(part))
        }
    }

    /// Returns whether the predicate is true for a row.
    package func matches(_ row: borrowing RowView, _ related: some RelatedRows) -> Bool { evaluate(root, row, related) }

    /// Throws the first error of an expression.
    package func throwFailure() throws(QueryError) { try failure.rethrow() }

    private func evaluate(_ node: Node, _ row: borrowing RowView, _ related: some RelatedRows) -> Bool {
        switch node {
        case .constant(let value): return value
        case .isNil(let path): return path.cell(row, related).isNull
        case .pathIs(let path, let type, let comparison, let constant):
            let cell = path.cell(row, related)
            if cell.isNull { return comparison == .notEqual }
            return cell.isNoNumber(type) ? fail() : comparison.holds(CellOrder.compare(cell, constant))
        case .comparePaths(let a, let x, let comparison, let b, let y):
            return compare(a.cell(row, related), x, comparison, b.cell(row, related), y)
        case .pathIsIn(let path, let type, let constants):
            let cell = path.cell(row, related)
            return cell.isNoNumber(type) ? fail() : Self.contains(constants, cell)
        case .pathMatches(let path, let matcher):
            let cell = path.cell(row, related)
            return !cell.isNull && matcher.matches(cell.bytes)
        case .compareValues(let a, let comparison, let b): return compare(a.value(row, related), comparison, b.value(row, related))
        case .valueIsIn(let expression, let values):
            let value = expression.value(row, related)
            return !value.isNull && Self.isFound(values.count) { values[$0].compare(to: value) }
        case .valueMatches(let expression, let matcher):
            guard case .string(let text) = expression.value(row, related) else { return false }
            return matcher.matches(text)
        case .related(let members): return members.isAny(row, related)
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

    private func compare(_ a: Cell, _ x: ValueType, _ comparison: Comparison, _ b: Cell, _ y: ValueType) -> Bool {
        if a.isNull || b.isNull { return comparison.holds(ifNil: a.isNull, b.isNull) }
        return CellOrder.compareNumbers(a, x, b, y).map(comparison.holds) ?? fail()
    }

    /// Records that a stored value has no order.
    private func fail() -> Bool {
        failure.error = failure.error ?? .illFormed
        return false
    }

    private static func contains(_ constants: [Cell], _ cell: Cell) -> Bool {
        !cell.isNull && isFound(constants.count) { CellOrder.compare(constants[$0], cell) }
    }

    /// Searches ascending constants by bisection.
    ///
    /// - Parameter order: The order of the constant at a position relative to the value searched for.
    @inline(__always)
    private static func isFound(_ count: Int, _ order: (Int) -> Int) -> Bool {
        var low = 0, high = count
        while low < high {
            let middle = (low + high) / 2
            let order = order(middle)
            if order == 0 { return true }
            if order < 0 { low = middle + 1 } else { high = middle }
        }
        return false
    }

    private func compare(_ a: Value, _ comparison: Comparison, _ b: Value) -> Bool {
        if a.isNull || b.isNull { return comparison.holds(ifNil: a.isNull, b.isNull) }
        return ExactNumber.compare(a, b).map(comparison.holds) ?? fail()
    }
}
