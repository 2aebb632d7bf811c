package import PolystoreSchema

/// Computes the rows of an answer from groups, each given by the values of its keys and aggregates.
package struct GroupAnswer {
    private let grouping: QueryPlan.Grouping
    private let schema: Schema

    /// Creates the answer of a grouping.
    package init(_ grouping: QueryPlan.Grouping) {
        self.grouping = grouping
        schema = QueryPlan.Grouping.schema(grouping.keys.map(\.type) + grouping.aggregates.map(\.type))
    }

    /// Returns the rows of the answer: the outputs of the groups that satisfy the condition, ordered, with offset and limit applied.
    package func rows(_ groups: [[Value]]) throws(QueryError) -> [[Value]] {
        let batch = RowBatch(capacity: max(groups.count, 1))
        for (number, group) in groups.enumerated() {
            let cells = batch.appendRow(key: Int64(number), version: 0, entity: 0, slots: group.count)
            for (slot, value) in group.enumerated() { cells[slot] = batch.cell(for: value) }
        }
        var chosen = Array(groups.indices)
        if grouping.having != .constant(true) {
            let condition = PredicateEvaluator(grouping.having, schema: schema)
            chosen = chosen.filter { condition.matches(batch.row($0), NoRelatedRows()) }
            try condition.throwFailure()
        }
        let keys = grouping.keys.indices.map { CheckedSort(.path(QueryPlan.Grouping.path($0, grouping.keys[$0].type)), ascending: true) }
        let order = RowOrder(grouping.sort + keys, schema: schema)
        chosen.sort { order.compare(batch.row($0), batch.row($1), NoRelatedRows()) < 0 }
        try order.throwFailure()
        let outputs = grouping.outputs.map { ExpressionEvaluator($0, schema: schema) }
        var answer: [[Value]] = [], seen: Set<[Value]> = []
        let asked = grouping.isDistinct ? chosen[...] : chosen.dropFirst(grouping.offset).prefix(grouping.limit ?? .max)
        for index in asked {
            var row: [Value] = []
            row.reserveCapacity(outputs.count)
            for output in outputs {
                if case .path(let path) = output.plainPath, case .slot(let slot) = path.leaf {
                    row.append(groups[index][slot])
                } else {
                    row.append(output.value(batch.row(index), NoRelatedRows()))
                }
            }
            if !grouping.isDistinct || seen.insert(row).inserted { answer.append(row) }
        }
        for output in outputs { try output.throwFailure() }
        return grouping.isDistinct ? Array(answer.dropFirst(grouping.offset).prefix(grouping.limit ?? .max)) : answer
    }
}
