package import PolystoreSchema

/// The answer of a query, computed row by row, for stores without native aggregation.
package final class QueryAnswer {
    private let plan: QueryPlan
    /// The values of plain rows.
    private let outputs: [ExpressionEvaluator]
    /// The grouping keys.
    private let readers: [CellReader]
    /// The arguments of the aggregates; nil for a count of objects.
    private let arguments: [CellReader?]
    // Unchecked: an answer belongs to one thread, and nothing that `add` calls accesses it again.
    @exclusivity(unchecked) private var groups: GroupTable
    /// The accumulators; those of one group are adjacent.
    @exclusivity(unchecked) private var accumulators: ContiguousArray<Accumulator> = []
    private let key: UnsafeMutablePointer<Cell>
    /// Holds the bytes of values that are computed for a row.
    private let scratch = RowBatch(capacity: 1)
    /// Whether any expression is not only a property.
    private let isComputing: Bool
    private var rows: [[Value]] = []

    /// Creates an empty answer to a plan.
    package init(_ plan: QueryPlan, schema: Schema) {
        self.plan = plan
        switch plan.kind {
        case .rows(let outputs):
            self.outputs = outputs.map { ExpressionEvaluator($0, schema: schema) }
            (readers, arguments) = ([], [])
        case .groups(let grouping):
            outputs = []
            readers = grouping.keys.map { CellReader($0, schema) }
            arguments = grouping.aggregates.map { $0.argument.map { CellReader($0, schema) } }
        }
        isComputing = (readers + arguments.compactMap(\.self)).contains { if case .computed = $0 { true } else { false } }
        groups = GroupTable(width: readers.count)
        key = .allocate(capacity: max(readers.count, 1))
        // Without keys there is one group, even if there are no rows.
        if grouping?.keys.isEmpty ?? false { _ = group() }
    }

    deinit { key.deallocate() }

    private var grouping: QueryPlan.Grouping? { if case .groups(let grouping) = plan.kind { grouping } else { nil } }

    /// Returns the position of the group with the key stored in `key`.
    @inline(__always)
    private func group() -> Int {
        let known = groups.count, group = groups.group(key)
        if group == known { begin() }
        return group
    }

    private func begin() {
        for aggregate in grouping?.aggregates ?? [] { accumulators.append(Accumulator(aggregate.function, type: aggregate.argument?.type)) }
    }

    /// Adds rows that satisfy the condition, in the order of the plan's fetch.
    package func add(_ batch: RowBatch, _ related: some RelatedRows) throws(QueryError) {
        if case .rows = plan.kind {
            for index in 0..<batch.count {
                related.beginRow()
                rows.append(try values(batch.row(index), related))
            }
            return
        }
        for index in 0..<batch.count {
            related.beginRow()
            try count(batch.row(index), related)
        }
    }

    private func values(_ row: borrowing RowView, _ related: some RelatedRows) throws(QueryError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(outputs.count)
        for output in outputs {
            values.append(output.value(row, related))
            try output.throwFailure()
        }
        return values
    }

    private func count(_ row: borrowing RowView, _ related: some RelatedRows) throws(QueryError) {
        if isComputing { scratch.clear() }
        for index in readers.indices { key[index] = try readers[index].cell(row, related, scratch) }
        let first = group() * arguments.count
        for index in arguments.indices {
            if let argument = arguments[index] {
                try accumulators[first + index].add(argument.cell(row, related, scratch))
            } else {
                accumulators[first + index].addObject()
            }
        }
    }

    /// Returns the rows of the answer, in the order of the plan.
    package func result() throws(QueryError) -> [[Value]] {
        guard let grouping else { return rows }
        var all: [[Value]] = []
        for group in 0..<groups.count {
            var row: [Value] = []
            row.reserveCapacity(readers.count + arguments.count)
            let cells = groups.key(group)
            for (index, key) in grouping.keys.enumerated() { row.append(try CellReader.value(cells[index], key.type)) }
            for index in arguments.indices { row.append(try accumulators[group * arguments.count + index].result()) }
            all.append(row)
        }
        return try GroupAnswer(grouping).rows(all)
    }
}

/// Reads an expression of a row as a cell: a property directly from the row, any other expression by computing it.
private enum CellReader {
    case path(PathReader)
    case computed(ExpressionEvaluator)

    init(_ expression: CheckedExpression, _ schema: Schema) {
        if case .path(let path) = expression {
            self = .path(PathReader(path, schema: schema))
        } else {
            self = .computed(ExpressionEvaluator(expression, schema: schema))
        }
    }

    /// Returns the cell; its bytes belong to the row or to `scratch`.
    @inline(__always)
    func cell(_ row: borrowing RowView, _ related: some RelatedRows, _ scratch: RowBatch) throws(QueryError) -> Cell {
        switch self {
        case .path(let path): return path.cell(row, related)
        case .computed(let evaluator):
            let value = evaluator.value(row, related)
            try evaluator.throwFailure()
            let cell = scratch.cell(for: value)
            // The two representations of zero are one value.
            return cell.kind == .real && cell.real == 0 ? .real(0) : cell
        }
    }

    static func value(_ cell: Cell, _ type: ValueType) throws(QueryError) -> Value {
        guard let value = Value(cell, as: type) else { throw .illFormed }
        return value
    }
}
