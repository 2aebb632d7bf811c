internal import PolystoreStorage

/// The conditions of the partial indexes of a schema.
///
/// An engine uses a partial index only for a statement that contains the terms of its condition literally, because its planner does not
/// treat a bound value as a constant (https://sqlite.org/partialindex.html, https://www.postgresql.org/docs/current/indexes-partial.html).
/// A comparison that is a term of such a condition therefore has its constant in the text of the statement. The model declares only few of
/// them.
struct SQLPartialIndexes: Sendable {
    private struct Term: Hashable {
        let root: EntityIndex
        let column: Int
        let comparison: Comparison
        let value: Value
    }

    private var terms: Set<Term> = []
    private let schema: Schema

    init(_ schema: Schema) {
        self.schema = schema
        for entity in schema.entities {
            for index in entity.indexes { if let condition = Self.condition(of: index, entity.name, schema) { collect(condition) } }
        }
    }

    /// Returns the checked condition of an index, or nil for an index of all objects.
    static func condition(of index: Index, _ entity: String, _ schema: Schema) -> CheckedPredicate? {
        guard let text = index.condition, let predicate = try? QueryPredicate(parsing: text),
            let plan = try? ObjectRequest(entity, where: predicate).plan(in: schema)
        else { return nil }
        return plan.predicate
    }

    private mutating func collect(_ condition: CheckedPredicate) {
        condition.walk { node, _ in
            if case .predicate(.compare(.path(let path), let comparison, .value(let value, _))) = node,
                let term = term(path, comparison, value)
            {
                terms.insert(term)
            }
            return .into
        }
    }

    private func term(_ path: CheckedPath, _ comparison: Comparison, _ value: Value) -> Term? {
        guard case .slot(let slot) = path.leaf else { return nil }
        let entity = schema[path.entity]
        return Term(root: entity.root, column: entity.slots[slot].column, comparison: comparison, value: value)
    }

    /// Whether a comparison is a term of the condition of a partial index.
    func contains(_ path: CheckedPath, _ comparison: Comparison, _ value: Value) -> Bool {
        if terms.isEmpty { return false }
        return term(path, comparison, value).map(terms.contains) ?? false
    }
}

extension SQLPredicates {
    /// Returns the table columns that the condition of an index reads.
    func columns(_ condition: CheckedPredicate) -> [String] {
        var columns: [String] = []
        condition.walk { node, _ in
            if case .property(let path) = node, case .slot(let slot) = path.leaf, path.steps.isEmpty {
                columns.append(tables.column(path.entity, slot))
            }
            return .into
        }
        return columns
    }

    /// Returns the condition of a partial index as SQL: columns without a table, constants as literals; nil for a form that no index
    /// condition has.
    func indexCondition(_ condition: CheckedPredicate) -> String? {
        func column(_ path: CheckedPath) -> String? {
            if case .slot(let slot) = path.leaf, path.steps.isEmpty { SQLText.quoted(tables.column(path.entity, slot)) } else { nil }
        }
        func joined(_ parts: [CheckedPredicate], _ word: String) -> String? {
            let texts = parts.compactMap(indexCondition)
            return texts.count == parts.count ? "(\(texts.joined(separator: word)))" : nil
        }
        switch condition {
        case .constant(let value): return value ? tables.dialect.yes : tables.dialect.no
        case .isNil(let path): return column(path).map { "\($0) IS NULL" }
        case .not(.isNil(let path)): return column(path).map { "\($0) IS NOT NULL" }
        case .compare(.path(let path), let comparison, .value(let value, _)):
            guard let column = column(path), let literal = tables.dialect.literal(value, path.type) else { return nil }
            return "\(column) \(sign(comparison)) \(literal)"
        case .and(let parts): return joined(parts, " AND ")
        case .or(let parts): return joined(parts, " OR ")
        case .compare, .isIn, .text, .related, .isEntity, .not: return nil
        }
    }
}
