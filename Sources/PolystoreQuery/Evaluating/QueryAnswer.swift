public import PolystoreSchema

/// The answer of a query, computed row by row: what a store that cannot aggregate by itself uses.
public final class QueryAnswer {
    private let plan: QueryPlan
    /// The outputs of plain rows, or the grouping keys.
    private let readers: [CellReader]
    /// What is computed over; nil for a count of objects.
    private let arguments: [CellReader?]
    // Unchecked: an answer belongs to one thread, and nothing that `add` calls leads back to it.
    @exclusivity(unchecked) private var groups: GroupTable
    /// Those of a group beside each other.
    @exclusivity(unchecked) private var accumulators: ContiguousArray<Accumulator> = []
    private let key: UnsafeMutablePointer<Cell>
    /// Holds the bytes of values that are computed for a row.
    private let scratch = RowBatch(capacity: 1)
    private var rows: [[Value]] = []

    /// An empty answer to a plan.
    public init(_ plan: QueryPlan, schema: Schema) {
        self.plan = plan
        switch plan.kind {
        case .rows(let outputs):
            readers = outputs.map { CellReader($0, schema) }
            arguments = []
        case .groups(let grouping):
            readers = grouping.keys.map { CellReader($0, schema) }
            arguments = grouping.aggregates.map { $0.argument.map { CellReader($0, schema) } }
        }
        groups = GroupTable(width: readers.count)
        key = .allocate(capacity: max(readers.count, 1))
        // Without keys there is one group, also of nothing.
        if grouping?.keys.isEmpty ?? false { _ = group() }
    }

    deinit { key.deallocate() }

    private var grouping: QueryPlan.Grouping? { if case .groups(let grouping) = plan.kind { grouping } else { nil } }

    /// The position of the group with the key that lies in `key`.
    @inline(__always)
    private func group() -> Int {
        let known = groups.count, group = groups.group(key)
        if group == known { begin() }
        return group
    }

    private func begin() {
        for aggregate in grouping?.aggregates ?? [] { accumulators.append(Accumulator(aggregate.function, type: aggregate.argument?.type)) }
    }

    /// Takes in rows that satisfy the condition, in the order of the plan's fetch.
    public func add(_ batch: RowBatch, _ related: some RelatedRows) throws(QueryError) {
        if case .rows = plan.kind {
            for index in 0..<batch.count { rows.append(try values(batch.row(index), related)) }
            return
        }
        for index in 0..<batch.count { try count(batch.row(index), related) }
    }

    private func values(_ row: borrowing RowView, _ related: some RelatedRows) throws(QueryError) -> [Value] {
        var values: [Value] = []
        values.reserveCapacity(readers.count)
        for reader in readers { values.append(try reader.value(row, related)) }
        return values
    }

    private func count(_ row: borrowing RowView, _ related: some RelatedRows) throws(QueryError) {
        scratch.clear()
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

    /// The rows of the answer, in the order of the plan.
    public func result() throws(QueryError) -> [[Value]] {
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

/// Reads an expression of a row as a cell: a property where it lies, anything else computed.
private struct CellReader {
    private let path: PathReader?
    /// The slot of a property of the row itself.
    private let slot: Int?
    private let evaluator: ExpressionEvaluator

    init(_ expression: CheckedExpression, _ schema: Schema) {
        evaluator = ExpressionEvaluator(expression, schema: schema)
        guard case .path(let path) = expression else {
            (self.path, slot) = (nil, nil)
            return
        }
        self.path = PathReader(path, schema: schema)
        slot = if path.steps.isEmpty, case .slot(let slot) = path.leaf { slot } else { nil }
    }

    /// The cell; its bytes are those of the row, or in `scratch`.
    @inline(__always)
    func cell(_ row: borrowing RowView, _ related: some RelatedRows, _ scratch: RowBatch) throws(QueryError) -> Cell {
        if let slot { return row[slot] }
        if let path { return path.cell(row, related) }
        let cell = scratch.cell(for: try value(row, related))
        // Zero has two forms, which are one value.
        return cell.kind == .real && cell.real == 0 ? .real(0) : cell
    }

    func value(_ row: borrowing RowView, _ related: some RelatedRows) throws(QueryError) -> Value {
        let value = evaluator.value(row, related)
        try evaluator.throwFailure()
        return value
    }

    static func value(_ cell: Cell, _ type: ValueType) throws(QueryError) -> Value {
        guard let value = Value(cell, as: type) else { throw QueryError("a value has ill-formed bytes") }
        return value
    }
}
