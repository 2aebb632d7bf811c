package import PolystoreStorage

extension SQLCompiler {
    /// Returns the statement of a query, or nil when the engine's answer would differ from the contract and rows must be read.
    ///
    /// For groups the statement returns keys and aggregates. The layer above filters and sorts the groups.
    package func values(_ plan: QueryPlan) -> SQLValueQuery? {
        guard pushdown(of: plan.fetch) == .exact, SQLSize.fits(plan, tables.dialect) else { return nil }
        switch plan.kind {
        case .rows(let outputs): return rows(plan.fetch, outputs)
        case .groups(let grouping): return groups(plan.fetch, grouping)
        }
    }

    private func rows(_ plan: FetchPlan, _ outputs: [CheckedExpression]) -> SQLValueQuery? {
        let predicates = SQLPredicates(tables: tables)
        guard outputs.allSatisfy(predicates.isExact) else { return nil }
        // An engine may compute values of rows beyond the limit, before it sorts them.
        if plan.limit != nil || plan.offset > 0, outputs.contains(where: \.canFail) { return nil }
        var joins = SQLJoins(tables: tables, entity: plan.entity)
        var list: [SQLText] = []
        for output in outputs { list.append(predicates.compile(output, &joins)) }
        let order = order(plan, &joins)
        let condition = predicates.condition(plan, &joins)
        var text: SQLText = "SELECT \(SQLText.joined(list, ", ")) FROM \(joins.text)"
        if let condition { text += " WHERE \(condition)" }
        text += " ORDER BY \(order)"
        text += limit(plan.limit, plan.offset)
        return SQLValueQuery(text: text, columns: outputs.map(\.type), outputs: outputs.indices.map { .column($0) }, guards: [])
    }

    private func groups(_ plan: FetchPlan, _ grouping: QueryPlan.Grouping) -> SQLValueQuery? {
        let predicates = SQLPredicates(tables: tables)
        guard grouping.keys.allSatisfy(predicates.isExact), grouping.aggregates.allSatisfy({ isExact($0, predicates) }) else { return nil }
        var joins = SQLJoins(tables: tables, entity: plan.entity), columns = Columns(), outputs: [SQLValueQuery.Output] = []
        for key in grouping.keys { outputs.append(.column(columns.append(predicates.compile(key, &joins), key.type))) }
        for aggregate in grouping.aggregates { outputs.append(add(aggregate, &columns, &joins)) }
        let condition = predicates.condition(plan, &joins)
        var text: SQLText = "SELECT \(SQLText.joined(columns.list, ", ")) FROM \(joins.text)"
        if let condition { text += " WHERE \(condition)" }
        if !grouping.keys.isEmpty {
            text += " GROUP BY \(raw: grouping.keys.indices.map { String($0 + 1) }.joined(separator: ", "))"
        }
        return SQLValueQuery(text: text, columns: columns.types, outputs: outputs, guards: columns.guards)
    }

    /// The columns of a result under construction.
    private struct Columns {
        var list: [SQLText] = [], types: [ValueType] = [], guards: [Int] = []

        mutating func append(_ text: SQLText, _ type: ValueType) -> Int {
            list.append(text)
            types.append(type)
            return list.count - 1
        }
    }

    private func isExact(_ aggregate: CheckedAggregate, _ predicates: SQLPredicates) -> Bool {
        guard let argument = aggregate.argument else { return true }
        return predicates.isExact(argument)
            && (tables.dialect.aggregates(aggregate.function, argument.type)
                || tables.dialect.total(aggregate.function, SQLArgument("", argument.type)) != nil)
    }

    private func add(_ aggregate: CheckedAggregate, _ columns: inout Columns, _ joins: inout SQLJoins) -> SQLValueQuery.Output {
        guard let argument = aggregate.argument else { return .column(columns.append("count(*)", .int64)) }
        let predicates = SQLPredicates(tables: tables), function = aggregate.function, type = argument.type
        let value = predicates.compile(argument, &joins)
        // PostgreSQL chooses an aggregate by the type of its argument.
        let column: SQLText = argument.isNil ? "CAST(\(value) AS \(raw: tables.dialect.typeName(type)))" : value
        if !function.isOfNumbers || !tables.dialect.aggregates(function, type),
            let single = predicates.aggregate(function, SQLArgument(column, type))
        {
            return .column(columns.append(single, aggregate.type))
        }
        let number = tables.dialect.number(function, column, type)
        if let beyond = number.beyond { columns.guards.append(columns.append(beyond, .int64)) }
        switch function {
        case .median: return .middle(columns.append(number.values[0], type), columns.append(number.values[1], type))
        case .sum, .average:
            let total = columns.append(number.values[0], AggregateFunction.sum.type(of: type))
            let count = columns.append("count(\(column))", .int64)
            return function == .sum ? .total(total, count: count, type) : .mean(total, count: count, type)
        case .count, .countDistinct, .minimum, .maximum, .standardDeviation, .sampleStandardDeviation:
            return .column(columns.append(number.values[0], aggregate.type))
        }
    }
}

extension AggregateFunction {
    /// Whether the aggregate is computed from numbers, as opposed to one that counts or selects values.
    fileprivate var isOfNumbers: Bool {
        switch self {
        case .count, .countDistinct, .minimum, .maximum: false
        case .sum, .average, .standardDeviation, .sampleStandardDeviation, .median: true
        }
    }
}
