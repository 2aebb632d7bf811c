internal import PolystoreStorage

/// Compiles conditions: every result counts as false where SQL says unknown, which keeps the two-valued logic of the contract.
struct SQLPredicates {
    let tables: SQLTables

    /// The WHERE condition of a fetch; nil when every row is wanted.
    func condition(_ plan: FetchPlan, _ joins: inout SQLJoins) -> SQLText? {
        var parts: [SQLText] = []
        let description = tables.schema[plan.entity]
        if description.isHierarchy, plan.entities != tables.schema[description.root].family {
            parts.append(isEntity(plan.entities))
        }
        switch plan.predicate {
        case .constant(true): break
        case .and(let inner): for part in inner { parts.append(compile(part, &joins)) }
        case .constant, .isNil, .compare, .comparePaths, .isIn, .text, .isEntity, .or, .not: parts.append(compile(plan.predicate, &joins))
        }
        return parts.isEmpty ? nil : SQLText.joined(parts, " AND ")
    }

    private func isEntity(_ entities: [EntityIndex]) -> SQLText {
        let numbers = entities.map { String(tables.entityNumbers[$0]) }
        return "t0.\"_entity\" IN (\(raw: numbers.joined(separator: ", ")))"
    }

    func compile(_ predicate: CheckedPredicate, _ joins: inout SQLJoins) -> SQLText {
        switch predicate {
        case .constant(let value): return "\(raw: value ? tables.dialect.yes : tables.dialect.no)"
        case .isNil(let path): return "\(joins.column(path)) IS NULL"
        case .compare(let path, let comparison, let value):
            return "\(joins.column(path)) \(raw: sign(comparison)) \(bind: value, path.type)"
        case .comparePaths(let a, let comparison, let b): return comparePaths(a, comparison, b, &joins)
        case .isIn(let path, let values): return tables.dialect.isIn(joins.column(path), values, path.type)
        case .text(let path, let match, let needle): return text(joins.column(path), match, "\(bind: .string(needle), .string)")
        case .isEntity(let entities):
            // Without a hierarchy the table has one entity, and no column for it.
            return tables.schema[entities.first ?? 0].isHierarchy ? isEntity(entities) : "\(raw: tables.dialect.yes)"
        case .and(let parts): return "(\(list(parts, " AND ", &joins)))"
        case .or(let parts): return "(\(list(parts, " OR ", &joins)))"
        case .not(let part): return negated(part, &joins)
        }
    }

    private func list(_ parts: [CheckedPredicate], _ separator: String, _ joins: inout SQLJoins) -> SQLText {
        var texts: [SQLText] = []
        for part in parts { texts.append(compile(part, &joins)) }
        return SQLText.joined(texts, separator)
    }

    private func sign(_ comparison: Comparison) -> String {
        switch comparison {
        case .equal: "="
        case .notEqual: tables.dialect.isNotSame
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }

    private func comparePaths(_ a: CheckedPath, _ comparison: Comparison, _ b: CheckedPath, _ joins: inout SQLJoins) -> SQLText {
        let same = comparison == .equal ? tables.dialect.isSame : sign(comparison)
        return "\(joins.column(a)) \(raw: same) \(joins.column(b))"
    }

    private func text(_ column: SQLText, _ match: TextMatch, _ needle: SQLText) -> SQLText {
        switch match {
        case .beginsWith: tables.dialect.beginsWith(column, needle)
        case .endsWith: tables.dialect.endsWith(column, needle)
        case .contains: tables.dialect.contains(column, needle)
        }
    }

    /// The opposite of a leaf; forms that an index can answer where there is one.
    private func negated(_ predicate: CheckedPredicate, _ joins: inout SQLJoins) -> SQLText {
        switch predicate {
        case .isNil(let path): return "\(joins.column(path)) IS NOT NULL"
        case .compare(let path, let comparison, let value):
            let column = joins.column(path)
            return "(\(column) IS NULL OR \(column) \(raw: opposite(comparison)) \(bind: value, path.type))"
        case .constant, .comparePaths, .isIn, .text, .isEntity, .and, .or, .not: return "(\(compile(predicate, &joins))) IS NOT TRUE"
        }
    }

    private func opposite(_ comparison: Comparison) -> String {
        switch comparison {
        case .equal: "<>"
        case .notEqual: "="
        case .less: ">="
        case .lessOrEqual: ">"
        case .greater: "<="
        case .greaterOrEqual: "<"
        }
    }
}
