package import PolystoreSchema

/// Evaluates a predicate for rows.
///
/// Constants are encoded once. Evaluation allocates nothing for a row whose paths are local.
package final class PredicateEvaluator {
    private indirect enum Node {
        case constant(Bool)
        case isNil(PathReader)
        case compare(PathReader, Comparison, Cell)
        case comparePaths(PathReader, ValueType, Comparison, PathReader, ValueType)
        case isIn(PathReader, [Cell])
        case text(PathReader, TextMatcher)
        case compareExpressions(ExpressionEvaluator, Comparison, ExpressionEvaluator)
        case isInExpression(ExpressionEvaluator, [Value])
        case textOf(ExpressionEvaluator, TextMatcher)
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
        case .compare(let path, let comparison, let value): return .compare(reader(path), comparison, constants.cell(for: value))
        case .comparePaths(let a, let comparison, let b): return .comparePaths(reader(a), a.type, comparison, reader(b), b.type)
        case .isIn(let path, let values): return .isIn(reader(path), values.map(constants.cell(for:)))
        case .text(let path, let match, let needle): return .text(reader(path), TextMatcher(match, needle.text))
        case .compareExpressions(let a, let comparison, let b): return .compareExpressions(evaluator(a), comparison, evaluator(b))
        case .isInExpression(let expression, let values): return .isInExpression(evaluator(expression), values)
        case .textOf(let expression, let match, let needle): return .textOf(evaluator(expression), TextMatcher(match, needle.text))
        case .related(let members): return .related(MembersReader(members, schema, failure, outer))
        case .isEntity(let entities): return .isEntity(Set(entities))
        case .and(let parts): return .and(parts.map(node))
        case .or(let parts): return .or(parts.map(node))
        case .not(let part): return .not(node(part))
        }
    }

    /// Returns whether the predicate is true for a row.
    package func matches(_ row: borrowing RowView, _ related: some RelatedRows) -> Bool { Self.evaluate(root, row, related) }

    /// Throws the first error of an expression.
    package func throwFailure() throws(QueryError) { try failure.rethrow() }

    private static func evaluate(_ node: Node, _ row: borrowing RowView, _ related: some RelatedRows) -> Bool {
        switch node {
        case .constant(let value): return value
        case .isNil(let path): return path.cell(row, related).isNull
        case .compare(let path, let comparison, let constant):
            let cell = path.cell(row, related)
            return cell.isNull ? comparison == .notEqual : comparison.holds(CellOrder.compare(cell, constant))
        case .comparePaths(let a, let x, let comparison, let b, let y):
            return compare(a.cell(row, related), x, comparison, b.cell(row, related), y)
        case .isIn(let path, let constants): return contains(constants, path.cell(row, related))
        case .text(let path, let matcher):
            let cell = path.cell(row, related)
            return !cell.isNull && matcher.matches(cell.bytes)
        case .compareExpressions(let a, let comparison, let b): return compare(a.value(row, related), comparison, b.value(row, related))
        case .isInExpression(let expression, let values):
            let value = expression.value(row, related)
            return !value.isNull && Self.isFound(values.count) { values[$0].compare(to: value) }
        case .textOf(let expression, let matcher):
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

    private static func compare(_ a: Cell, _ x: ValueType, _ comparison: Comparison, _ b: Cell, _ y: ValueType) -> Bool {
        switch (a.isNull, b.isNull, comparison) {
        case (false, false, _): comparison.holds(CellOrder.compareNumbers(a, x, b, y))
        case (true, true, .equal), (true, false, .notEqual), (false, true, .notEqual): true
        case (_, _, _): false
        }
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

    private static func compare(_ a: Value, _ comparison: Comparison, _ b: Value) -> Bool {
        switch (a.isNull, b.isNull, comparison) {
        case (false, false, _): ExactNumber.compare(a, b).map(comparison.holds) ?? false
        case (true, true, .equal), (true, false, .notEqual), (false, true, .notEqual): true
        case (_, _, _): false
        }
    }
}
