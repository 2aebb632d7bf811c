public import PolystoreSchema

/// The answer of a query, computed row by row: what a store that cannot aggregate by itself uses.
public final class QueryAnswer {
    private struct Group {
        var keys: [Value]
        var accumulators: [Accumulator]
    }

    private let plan: QueryPlan
    private let keyReaders: [PathReader]
    private let outputReaders: [PathReader?]
    private var groups: [[Value]: Group] = [:]
    private var rows: [[Value]] = []

    /// An empty answer to a plan.
    public init(_ plan: QueryPlan, schema: Schema) {
        self.plan = plan
        keyReaders = plan.groupBy.map { PathReader($0, schema: schema) }
        outputReaders = plan.outputs.map { output in
            switch output {
            case .group, .aggregate(_, nil): nil
            case .property(let path), .aggregate(_, let path?): PathReader(path, schema: schema)
            }
        }
    }

    /// Takes in a row that satisfies the condition, in the order of the plan's fetch.
    public func add(_ row: borrowing RowView, _ related: some RelatedRows) throws(QueryError) {
        guard plan.isAggregate else { return try addPlain(row, related) }
        var keys: [Value] = []
        for (index, reader) in keyReaders.enumerated() { keys.append(try value(reader.cell(row, related), plan.groupBy[index].type)) }
        var group = groups.removeValue(forKey: keys) ?? Group(keys: keys, accumulators: emptyAccumulators())
        for (index, output) in plan.outputs.enumerated() {
            guard case .aggregate = output else { continue }
            if let reader = outputReaders[index] {
                try group.accumulators[index].add(reader.cell(row, related))
            } else {
                group.accumulators[index].addObject()
            }
        }
        groups[keys] = group
    }

    private func addPlain(_ row: borrowing RowView, _ related: some RelatedRows) throws(QueryError) {
        var values: [Value] = []
        for (index, output) in plan.outputs.enumerated() {
            guard case .property(let path) = output, let reader = outputReaders[index] else { continue }
            values.append(try value(reader.cell(row, related), path.type))
        }
        rows.append(values)
    }

    private func value(_ cell: Cell, _ type: ValueType) throws(QueryError) -> Value {
        guard let value = Value(cell, as: type) else { throw QueryError("a value has ill-formed bytes") }
        return value
    }

    private func emptyAccumulators() -> [Accumulator] {
        plan.outputs.map { output in
            if case .aggregate(let function, let path) = output {
                Accumulator(function, type: path?.type)
            } else {
                Accumulator(.count, type: nil)
            }
        }
    }

    /// The rows of the answer, in the order of the plan.
    public func result() throws(QueryError) -> [[Value]] {
        guard plan.isAggregate else { return rows }
        var all = Array(groups.values)
        // Without grouping there is one group, also of nothing.
        if all.isEmpty, plan.groupBy.isEmpty { all.append(Group(keys: [], accumulators: emptyAccumulators())) }
        var answer: [(keys: [Value], row: [Value])] = []
        for group in all {
            var row: [Value] = []
            for (index, output) in plan.outputs.enumerated() {
                if case .group(let key) = output { row.append(group.keys[key]) } else { row.append(try group.accumulators[index].result()) }
            }
            answer.append((group.keys, row))
        }
        answer.sort(by: isBefore)
        return answer.dropFirst(plan.offset).prefix(plan.limit ?? .max).map(\.row)
    }

    private func isBefore(_ a: (keys: [Value], row: [Value]), _ b: (keys: [Value], row: [Value])) -> Bool {
        for key in plan.sort {
            let order = a.row[key.output].compare(to: b.row[key.output])
            if order != 0 { return key.ascending ? order < 0 : order > 0 }
        }
        for (x, y) in zip(a.keys, b.keys) {
            let order = x.compare(to: y)
            if order != 0 { return order < 0 }
        }
        return false
    }
}
