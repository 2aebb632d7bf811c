public import PolystoreStorage

extension SQLCompiler {
    private static let scope = "u"

    /// The statement of a change of many rows; nil when the engine would compute something otherwise than the contract says.
    ///
    /// It returns the key and, in a hierarchy, the entity number of each row.
    public func update(_ update: BatchUpdate) -> SQLText? {
        let predicates = SQLPredicates(tables: tables)
        var joins = SQLJoins(tables: tables, entity: update.fetch.entity, scope: Self.scope)
        var assignments: [SQLText] = []
        for (slot, value) in update.assignments {
            guard predicates.isSettable(value) else { return nil }
            assignments.append("\(identifier: tables.column(update.fetch.entity, slot)) = \(predicates.compile(value, &joins))")
        }
        assignments.append("\"_version\" = \(raw: joins.alias).\"_version\" + 1")
        guard joins.isPlain, let condition = condition(update.fetch) else { return nil }
        let table = tables.table(update.fetch.entity)
        return """
            UPDATE \(identifier: table) AS \(raw: joins.alias) SET \(SQLText.joined(assignments, ", "))\(condition)\(returning(update.fetch))
            """
    }

    /// The statement of a deletion of many rows; nil when the engine would find others than the contract says.
    public func delete(_ plan: FetchPlan) -> SQLText? {
        guard let condition = condition(plan) else { return nil }
        return "DELETE FROM \(identifier: tables.table(plan.entity)) AS \(raw: Self.scope)t0\(condition)\(returning(plan))"
    }

    /// The condition with its word; empty for all rows, nil when the engine would find others.
    private func condition(_ plan: FetchPlan) -> SQLText? {
        guard pushdown(of: plan) == .exact else { return nil }
        let predicates = SQLPredicates(tables: tables)
        var joins = SQLJoins(tables: tables, entity: plan.entity, scope: Self.scope)
        let condition = predicates.condition(plan, &joins)
        if joins.isPlain { return condition.map { " WHERE \($0)" } ?? "" }
        // Joins have no place in these statements: the rows are found by a subquery.
        var inner = SQLJoins(tables: tables, entity: plan.entity)
        guard let condition = predicates.condition(plan, &inner) else { return "" }
        return " WHERE \(raw: Self.scope)t0.\"_id\" IN (SELECT \(inner.key([])) FROM \(inner.text) WHERE \(condition))"
    }

    private func returning(_ plan: FetchPlan) -> SQLText {
        tables.schema[plan.entity].isHierarchy ? " RETURNING \"_id\", \"_entity\"" : " RETURNING \"_id\""
    }
}

extension SQLPredicates {
    /// Whether the engine computes a new value as the contract says. Unlike in a condition it is computed only for the rows that are
    /// changed, so whole numbers may overflow: both engines refuse to store what comes of it.
    func isSettable(_ expression: CheckedExpression) -> Bool {
        if isExact(expression) { return true }
        guard case .function(let function, let arguments, .int64) = expression else { return false }
        guard [.add, .subtract, .multiply].contains(function) else { return false }
        return arguments.allSatisfy { $0.type == .int64 && isSettable($0) }
    }
}
