internal import PolystoreStorage

/// A compiler of conditions. A comparison that SQL evaluates to unknown counts as false, which keeps the two-valued logic of the contract.
struct SQLPredicates {
    let tables: SQLTables

    /// Returns the WHERE condition of a fetch, or nil when it selects every row.
    func condition(_ plan: FetchPlan, _ joins: inout SQLJoins) -> SQLText? {
        var parts: [SQLText] = []
        let description = tables.schema[plan.entity]
        if description.isHierarchy, plan.entities != tables.schema[description.root].family {
            parts.append(isEntity(plan.entities, joins.alias))
        }
        var conditions = if case .and(let inner) = plan.predicate { inner } else { [plan.predicate] }
        conditions.removeAll { $0 == .constant(true) }
        guard mustKeepOrder(plan.predicate) else {
            for condition in conditions { parts.append(compile(condition, &joins)) }
            return parts.isEmpty ? nil : SQLText.joinedChain(parts, " AND ")
        }
        // Indexes can answer the conditions that cannot fail, and the others are evaluated for the rows that satisfy these. Subqueries are
        // not repeated.
        let isPlain: (CheckedPredicate) -> Bool = { !$0.canFail && !$0.looksAtMembers }
        for condition in conditions where isPlain(condition) { parts.append(compile(condition, &joins)) }
        var ordered = parts.isEmpty ? [] : [SQLText.joinedChain(parts, " AND ")]
        for condition in conditions where !isPlain(condition) { ordered.append(compile(condition, &joins)) }
        return SQLText.joinedChain(parts + [inOrder(ordered)], " AND ")
    }

    /// Whether the parts of a condition must be evaluated in their order, because an error depends on it. Engines evaluate the operands of AND
    /// and OR in any order.
    func mustKeepOrder(_ predicate: CheckedPredicate) -> Bool { tables.dialect.failsAlone && predicate.canFail }

    /// Returns the condition that all parts are true, each of which is evaluated only if those before it are.
    func inOrder(_ parts: [SQLText]) -> SQLText {
        guard let last = parts.last, parts.count > 1 else { return parts.first ?? "\(raw: tables.dialect.yes)" }
        let before = parts.dropLast().map { "WHEN (\($0)) IS NOT TRUE THEN \(raw: tables.dialect.no)" as SQLText }
        return "CASE \(SQLText.joined(before, " ")) ELSE \(last) END"
    }

    /// Returns the condition that one part is true, each of which is evaluated only if those before it are not.
    private func firstInOrder(_ parts: [SQLText]) -> SQLText {
        let before = parts.dropLast().map { "WHEN \($0) THEN \(raw: tables.dialect.yes)" as SQLText }
        return "CASE \(SQLText.joined(before, " ")) ELSE \(parts[parts.count - 1]) END"
    }

    /// Whether the engine evaluates a condition exactly as the contract requires.
    func isExact(_ predicate: CheckedPredicate) -> Bool {
        if failsOfJoined(predicate) { return false }
        switch predicate {
        case .constant, .isNil, .isEntity: return true
        case .compare(let a, _, let b): return isExact(a) && isExact(b) && comparesExactly(a, b)
        case .isIn(let expression, let values): return isExact(expression) && values.allSatisfy(takes)
        case .text(.path(let path), let match, let needle):
            return search(path, match, needle.text, key: "", text: "") != nil || tables.dialect.match("", match, needle.text) != nil
        case .text(let expression, let match, let needle):
            return isExact(expression) && takes(.string(needle.text)) && tables.dialect.match("", match, needle.text) != nil
        case .related(let members): return isExact(members)
        case .and(let parts), .or(let parts): return parts.allSatisfy(isExact)
        case .not(let part): return isExact(part)
        }
    }

    /// Whether a condition can fail for the row of another table. An engine may evaluate it for rows of that table that no row of the fetch
    /// refers to, and would then fail where the contract requires a result.
    private func failsOfJoined(_ predicate: CheckedPredicate) -> Bool {
        switch predicate {
        case .compare, .isIn, .text, .related:
            predicate.canFail
                && predicate.contains { node, _ in
                    switch node {
                    case .property(let path): !path.steps.isEmpty
                    case .members(let members): if case .toOne? = members.hops.first { true } else { false }
                    case .predicate, .expression: false
                    }
                }
        case .constant, .isNil, .isEntity, .and, .or, .not: false
        }
    }

    private func isEntity(_ entities: [EntityIndex], _ alias: String) -> SQLText {
        let numbers = entities.map { String(tables.entityNumbers[$0]) }
        return "\(raw: alias).\"_entity\" IN (\(raw: numbers.joined(separator: ", ")))"
    }

    func compile(_ predicate: CheckedPredicate, _ joins: inout SQLJoins) -> SQLText {
        if let (text, options) = foldedASCII(predicate), let fold = tables.dialect.foldASCII {
            let (folded, isASCII) = fold(compile(text, &joins), options), exact = exact(predicate, &joins)
            guard let narrowed = narrowed(predicate, folded, options) else { return "(NOT \(isASCII) OR \(exact))" }
            return "CASE WHEN \(isASCII) THEN \(exact) ELSE \(narrowed) END"
        }
        return widened(predicate, &joins) ?? exact(predicate, &joins)
    }

    private func exact(_ predicate: CheckedPredicate, _ joins: inout SQLJoins) -> SQLText {
        switch predicate {
        case .constant(let value): return "\(raw: value ? tables.dialect.yes : tables.dialect.no)"
        case .isNil(let path): return "\(joins.column(path)) IS NULL"
        case .compare(.path(let path), let comparison, .value(let value, _)):
            return "\(joins.column(path)) \(raw: sign(comparison)) \(constant(path, comparison, value))"
        case .compare(let a, let comparison, let b): return compare(compile(a, &joins), comparison, compile(b, &joins))
        case .isIn(let expression, let values): return tables.dialect.isIn(compile(expression, &joins), values, expression.type)
        case .text(.path(let path), let match, let needle):
            let key = joins.key(path.steps), column = joins.column(path)
            if match == .beginsWith, let range = tables.dialect.beginsWith(column, needle.text) { return range }
            return search(path, match, needle.text, key: key, text: column) ?? text(column, match, needle.text)
        case .text(let expression, let match, let needle): return text(compile(expression, &joins), match, needle.text)
        case .related(let members): return exists(members, &joins)
        case .isEntity(let entities):
            // Without a hierarchy the table has a single entity and no column for it.
            return tables.schema[entities.first ?? 0].isHierarchy ? isEntity(entities, joins.alias) : "\(raw: tables.dialect.yes)"
        case .and(let parts):
            let texts = texts(selecting(parts), &joins)
            return mustKeepOrder(predicate) ? inOrder(texts) : "(\(SQLText.joinedChain(texts, " AND ")))"
        case .or(let parts):
            let texts = texts(parts[...], &joins)
            return mustKeepOrder(predicate) ? firstInOrder(texts) : "(\(SQLText.joinedChain(texts, " OR ")))"
        case .not(let part): return negated(part, &joins)
        }
    }

    private func texts(_ parts: ArraySlice<CheckedPredicate>, _ joins: inout SQLJoins) -> [SQLText] {
        var texts: [SQLText] = []
        for part in parts { texts.append(compile(part, &joins)) }
        return texts
    }

    /// Returns a constant as a binding, or as a literal where the engine needs it to choose a partial index.
    private func constant(_ path: CheckedPath, _ comparison: Comparison, _ value: Value) -> SQLText {
        if tables.partialIndexes.contains(path, comparison, value), let literal = tables.dialect.literal(value, path.type) {
            return "\(raw: literal)"
        }
        return "\(bind: value, path.type)"
    }

    func sign(_ comparison: Comparison) -> String {
        switch comparison {
        case .equal: "="
        case .notEqual: tables.dialect.isNotSame
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }

    func compare(_ a: SQLText, _ comparison: Comparison, _ b: SQLText) -> SQLText {
        "\(a) \(raw: comparison == .equal ? tables.dialect.isSame : sign(comparison)) \(b)"
    }

    private func text(_ text: SQLText, _ match: TextMatch, _ needle: String) -> SQLText {
        tables.dialect.match(text, match, needle) ?? "\(raw: tables.dialect.no)"
    }

    /// Returns the negation of a leaf condition, in a form that an index can answer where there is one.
    private func negated(_ predicate: CheckedPredicate, _ joins: inout SQLJoins) -> SQLText {
        switch predicate {
        case .isNil(let path): return "\(joins.column(path)) IS NOT NULL"
        case .compare(.path(let path), let comparison, .value(let value, _)):
            let column = joins.column(path)
            return "(\(column) IS NULL OR \(column) \(raw: opposite(comparison)) \(bind: value, path.type))"
        case .related(let members): return "NOT \(exists(members, &joins))"
        case .constant, .compare, .isIn, .text, .isEntity, .and, .or, .not:
            let text = foldedASCII(predicate) == nil ? compile(predicate, &joins) : exact(predicate, &joins)
            return "(\(text)) IS NOT TRUE"
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
