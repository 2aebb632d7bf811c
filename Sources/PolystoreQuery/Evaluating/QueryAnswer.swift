public import PolystoreSchema

/// The answer of a query, computed row by row: what a store that cannot aggregate by itself uses.
public final class QueryAnswer {
    private let plan: QueryPlan
    /// The outputs of plain rows, or the grouping keys.
    private let readers: [ExpressionEvaluator]
    private let arguments: [ExpressionEvaluator?]
    private let paths: [PathReader?]
    private var groups: [[Value]: Int] = [:]
    private var keys: [[Value]] = []
    private var accumulators: [[Accumulator]] = []
    private var rows: [[Value]] = []

    /// An empty answer to a plan.
    public init(_ plan: QueryPlan, schema: Schema) {
        self.plan = plan
        switch plan.kind {
        case .rows(let outputs):
            readers = outputs.map { ExpressionEvaluator($0, schema: schema) }
            arguments = []
            paths = []
        case .groups(let grouping):
            readers = grouping.keys.map { ExpressionEvaluator($0, schema: schema) }
            arguments = grouping.aggregates.map { $0.argument.map { ExpressionEvaluator($0, schema: schema) } }
            paths = grouping.aggregates.map { aggregate in
                if case .path(let path)? = aggregate.argument { PathReader(path, schema: schema) } else { nil }
            }
            // Without keys there is one group, also of nothing.
            if grouping.keys.isEmpty { _ = group([]) }
        }
    }

    private var grouping: QueryPlan.Grouping? { if case .groups(let grouping) = plan.kind { grouping } else { nil } }

    /// The position of the group with keys.
    private func group(_ values: [Value]) -> Int {
        if let known = groups[values] { return known }
        groups[values] = keys.count
        keys.append(values)
        accumulators.append(
            grouping?.aggregates.map { Accumulator($0.function, type: $0.argument?.type) } ?? [])
        return keys.count - 1
    }

    /// Takes in a row that satisfies the condition, in the order of the plan's fetch.
    public func add(_ row: borrowing RowView, _ related: some RelatedRows) throws(QueryError) {
        var values: [Value] = []
        values.reserveCapacity(readers.count)
        for reader in readers {
            values.append(reader.value(row, related))
            try reader.throwFailure()
        }
        guard let grouping else {
            rows.append(values)
            return
        }
        let group = grouping.keys.isEmpty ? 0 : group(values)
        for index in grouping.aggregates.indices {
            if let path = paths[index] {
                try accumulators[group][index].add(path.cell(row, related))
            } else if let argument = arguments[index] {
                let value = argument.value(row, related)
                try argument.throwFailure()
                try accumulators[group][index].add(value)
            } else {
                accumulators[group][index].addObject()
            }
        }
    }

    /// The rows of the answer, in the order of the plan.
    public func result() throws(QueryError) -> [[Value]] {
        guard let grouping else { return rows }
        var all: [[Value]] = []
        for (key, list) in zip(keys, accumulators) {
            all.append(key + (try list.mapChecked { accumulator throws(QueryError) in try accumulator.result() }))
        }
        return try GroupAnswer(grouping).rows(all)
    }
}
