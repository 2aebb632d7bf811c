public import PolystoreStorage

/// A compiled query for values: the statement, and how each output is made from its columns.
public struct SQLValueQuery: Sendable {
    /// How an output is made.
    public enum Output: Sendable, Hashable {
        /// The value of a column.
        case column(Int)
        /// A total and the number of values behind it: zero of nothing.
        case total(Int, count: Int, ValueType)
        /// A total divided by the number of values behind it: nil of nothing.
        case mean(Int, count: Int, ValueType)
    }

    /// The statement.
    public let text: SQLText
    /// The types of the result's columns; totals of integers may be wider than the type says.
    public let columns: [ValueType]
    /// The outputs.
    public let outputs: [Output]
}

extension SQLCompiler {
    /// The statement of a query; nil when the engine would answer otherwise than the contract says, and rows must be read.
    public func values(_ plan: QueryPlan) -> SQLValueQuery? {
        guard plan.isAggregate, pushdown(of: plan.fetch) == .exact, plan.outputs.allSatisfy(isExact) else { return nil }
        var joins = SQLJoins(tables: tables, entity: plan.fetch.entity)
        var list: [SQLText] = [], types: [ValueType] = [], outputs: [SQLValueQuery.Output] = []
        for path in plan.groupBy {
            list.append(joins.column(path))
            types.append(path.type)
        }
        for output in plan.outputs { outputs.append(add(output, &list, &types, &joins)) }
        let condition = SQLPredicates(tables: tables).condition(plan.fetch, &joins)
        var text: SQLText = "SELECT \(SQLText.joined(list, ", ")) FROM \(joins.text)"
        if let condition { text += " WHERE \(condition)" }
        if !plan.groupBy.isEmpty {
            text += " GROUP BY \(raw: plan.groupBy.indices.map { String($0 + 1) }.joined(separator: ", "))"
            text += " ORDER BY \(raw: order(plan).joined(separator: ", "))"
        }
        text += limit(plan.limit, plan.offset)
        return SQLValueQuery(text: text, columns: types, outputs: outputs)
    }

    private func isExact(_ output: QueryPlan.Output) -> Bool {
        switch output {
        case .group, .property, .aggregate(_, nil): true
        case .aggregate(let function, let path?): tables.dialect.aggregates(function, path.type)
        }
    }

    private func order(_ plan: QueryPlan) -> [String] {
        var keys: [String] = []
        for sort in plan.sort {
            guard case .group(let group) = plan.outputs[sort.output] else { continue }
            keys.append("\(group + 1)\(sort.ascending ? tables.dialect.ascending : tables.dialect.descending)")
        }
        return keys + plan.groupBy.indices.map { "\($0 + 1)\(tables.dialect.ascending)" }
    }

    private func add(
        _ output: QueryPlan.Output, _ list: inout [SQLText], _ types: inout [ValueType], _ joins: inout SQLJoins
    ) -> SQLValueQuery.Output {
        func append(_ text: SQLText, _ type: ValueType) -> Int {
            list.append(text)
            types.append(type)
            return list.count - 1
        }
        switch output {
        case .group(let position): return .column(position)
        case .property(let path): return .column(append(joins.column(path), path.type))
        case .aggregate(_, nil): return .column(append("count(*)", .int64))
        case .aggregate(let function, let path?):
            let column = joins.column(path)
            switch function {
            case .count: return .column(append("count(\(column))", .int64))
            case .countDistinct: return .column(append("count(DISTINCT \(column))", .int64))
            case .minimum: return .column(append("min(\(column))", path.type))
            case .maximum: return .column(append("max(\(column))", path.type))
            case .sum, .average:
                let total = append("sum(\(column))", Self.totalType(path.type))
                let count = append("count(\(column))", .int64)
                return function == .sum ? .total(total, count: count, path.type) : .mean(total, count: count, path.type)
            }
        }
    }

    /// The type in which a total arrives.
    static func totalType(_ type: ValueType) -> ValueType {
        switch type {
        case .float, .double: .double
        case .decimal: .decimal
        case .bool, .int16, .int32, .int64, .string, .date, .uuid, .data, .url: .int64
        }
    }
}
