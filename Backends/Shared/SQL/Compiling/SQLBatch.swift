package import PolystoreStorage

extension SQLCompiler {
    private static let scope = "u"

    /// Returns the statement that changes many rows, or nil when the engine would compute a value that differs from the contract.
    ///
    /// The statement returns the key and, in a hierarchy, the entity number of each row.
    package func update(_ update: BatchUpdate) -> SQLText? {
        let predicates = SQLPredicates(tables: tables)
        var joins = SQLJoins(tables: tables, entity: update.fetch.entity, scope: Self.scope)
        var assignments: [SQLText] = []
        guard SQLSize.fits(update.assignments.map(\.value), tables.dialect) else { return nil }
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

    /// Returns the statement that deletes many rows, or nil when the engine would select rows that differ from the contract.
    package func delete(_ plan: FetchPlan) -> SQLText? {
        guard let condition = condition(plan) else { return nil }
        return "DELETE FROM \(identifier: tables.table(plan.entity)) AS \(raw: Self.scope)t0\(condition)\(returning(plan))"
    }

    /// Returns the WHERE clause: empty for all rows, nil when the engine would select other rows.
    private func condition(_ plan: FetchPlan) -> SQLText? {
        guard pushdown(of: plan) == .exact else { return nil }
        let predicates = SQLPredicates(tables: tables)
        var joins = SQLJoins(tables: tables, entity: plan.entity, scope: Self.scope)
        let condition = predicates.condition(plan, &joins)
        if joins.isPlain, !tables.dialect.seesOwnChanges || !plan.predicate.looksAtMembers { return condition.map { " WHERE \($0)" } ?? "" }
        // These statements cannot contain joins, and a condition must not see rows that the statement has already changed. A subquery
        // therefore selects the rows before the first one is changed.
        var inner = SQLJoins(tables: tables, entity: plan.entity)
        guard let condition = predicates.condition(plan, &inner) else { return "" }
        return " WHERE \(raw: Self.scope)t0.\"_id\" IN (SELECT \(inner.key([])) FROM \(inner.text) WHERE \(condition))"
    }

    private func returning(_ plan: FetchPlan) -> SQLText {
        tables.schema[plan.entity].isHierarchy ? " RETURNING \"_id\", \"_entity\"" : " RETURNING \"_id\""
    }
}

extension SQLPredicates {
    /// Whether the engine computes a new value as the contract requires. Unlike a condition, a new value is computed only for the rows that
    /// are changed, so integers may overflow where the engine reports it.
    func isSettable(_ expression: CheckedExpression) -> Bool {
        if isExact(expression) { return !tables.dialect.seesOwnChanges || !expression.looksAtMembers }
        guard tables.dialect.checksOverflow, case .function(let function, let arguments, .int64) = expression else { return false }
        return [.add, .subtract, .multiply].contains(function) && arguments.allSatisfy { $0.type == .int64 && isSettable($0) }
    }
}

extension CheckedExpression {
    /// Whether objects at the end of to-many relationships, or outer objects, are read.
    fileprivate var looksAtMembers: Bool { contains { node, depth in node.isMembers || depth < 0 } }
}

extension CheckedPredicate {
    /// Whether objects at the end of to-many relationships, or outer objects, are read.
    var looksAtMembers: Bool { contains { node, depth in node.isMembers || depth < 0 } }
}

extension CheckedNode {
    fileprivate var isMembers: Bool { if case .members = self { true } else { false } }
}
