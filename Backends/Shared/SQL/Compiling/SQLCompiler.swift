package import PolystoreStorage

/// A compiler of plans into the SQL of a dialect.
package struct SQLCompiler: Sendable {
    /// The tables.
    package let tables: SQLTables

    /// Creates a compiler for tables.
    package init(_ tables: SQLTables) { self.tables = tables }

    private var schema: Schema { tables.schema }

    /// Returns how much of a plan the engine answers as the contract requires.
    package func pushdown(of plan: FetchPlan) -> Pushdown {
        let predicates = SQLPredicates(tables: tables)
        guard SQLSize.fits(plan, tables.dialect), plan.sort.allSatisfy({ predicates.isExact($0.expression) }) else { return .unsupported }
        if predicates.isExact(plan.predicate) { return .exact }
        return predicates.isInexact(plan.predicate) ? .inexact : .unsupported
    }

    /// Returns the statement of a fetch. Its rows are unordered if `isOrdered` is false.
    package func select(_ plan: FetchPlan, isOrdered: Bool = true) -> SQLSelect {
        var joins = SQLJoins(tables: tables, entity: plan.entity)
        let predicates = SQLPredicates(tables: tables)
        var list = ["t0.\"_id\""], types: [ValueType] = [.int64]
        var entityColumn: Int?
        if schema[plan.entity].isHierarchy {
            entityColumn = list.count
            list.append("t0.\"_entity\"")
            types.append(.int16)
        }
        let versionColumn = list.count
        list.append("t0.\"_version\"")
        types.append(.int64)
        let slots = columns(plan, &list, &types)
        let last = list.count - 1
        let condition = predicates.condition(plan, &joins)
        let order = isOrdered ? order(plan, &joins) : nil
        var text: SQLText = "SELECT \(raw: list.reversed().joined(separator: ", ")) FROM \(joins.text)"
        if let condition { text += " WHERE \(condition)" }
        if let order {
            text += " ORDER BY \(order)"
            text += limit(plan.limit, plan.offset)
        }
        return SQLSelect(
            text: text, columns: types.reversed(), keyColumn: last, entityColumn: entityColumn.map { last - $0 },
            versionColumn: last - versionColumn, slots: slots.mapValues { $0.map { $0 < 0 ? -1 : last - $0 } })
    }

    private func columns(_ plan: FetchPlan, _ list: inout [String], _ types: inout [ValueType]) -> [EntityIndex: [Int]] {
        let root = schema[schema[plan.entity].root]
        var positions: [Int: Int] = [:], result: [EntityIndex: [Int]] = [:]
        for entity in plan.entities {
            result[entity] = schema[entity].slots.enumerated().map { index, slot in
                if !plan.fields.includes(index, slot) { return -1 }
                if let known = positions[slot.column] { return known }
                positions[slot.column] = list.count
                list.append("t0." + SQLText.quoted(tables.column(root: root.index, slot.column)))
                types.append(slot.type)
                return list.count - 1
            }
        }
        return result
    }

    /// Returns the statement that counts the rows that satisfy a condition, up to a maximum.
    package func count(_ plan: FetchPlan, upTo most: Int64) -> SQLText {
        var joins = SQLJoins(tables: tables, entity: plan.entity)
        let condition = SQLPredicates(tables: tables).condition(plan, &joins).map { " WHERE \($0)" as SQLText } ?? ""
        return "SELECT count(*) FROM (SELECT 1 FROM \(joins.text)\(condition) LIMIT \(bind: .int(most), .int64))"
    }

    /// Returns the sort terms, followed by the row key.
    func order(_ plan: FetchPlan, _ joins: inout SQLJoins) -> SQLText {
        let predicates = SQLPredicates(tables: tables)
        var keys: [SQLText] = []
        for key in plan.sort {
            keys.append(
                "\(predicates.compile(key.expression, &joins))\(raw: key.ascending ? tables.dialect.ascending : tables.dialect.descending)")
        }
        keys.append("t0.\"_id\"")
        return SQLText.joined(keys, ", ")
    }

    func limit(_ limit: Int?, _ offset: Int) -> SQLText {
        var text: SQLText = ""
        if let limit {
            text += " LIMIT \(bind: .int(Int64(limit)), .int64)"
        } else if offset > 0 {
            text += " \(raw: tables.dialect.noLimit)"
        }
        if offset > 0 { text += " OFFSET \(bind: .int(Int64(offset)), .int64)" }
        return text
    }

    /// Returns the statement for the rows of a hierarchy with given keys: all its entities and all columns, with the keys as one list
    /// binding.
    package func selectByKeys(_ root: EntityIndex, _ keys: [Int64]) -> SQLSelect {
        let path = CheckedPath(steps: [], entity: root, leaf: .key, type: .int64, text: "SELF")
        return select(FetchPlan(schema, root, where: .isIn(.path(path), keys.map(Value.int))))
    }

    /// Returns the statement for the row with one key, which is a binding.
    package func selectByKey(_ root: EntityIndex) -> SQLSelect {
        let path = CheckedPath(steps: [], entity: root, leaf: .key, type: .int64, text: "SELF")
        return select(FetchPlan(schema, root, where: .compare(path, .equal, .int(0))))
    }
}
