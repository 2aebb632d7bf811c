internal import PolystoreStorage

/// The tables of a statement or subquery: the table of the fetch as `t0`, and one join for each relationship of a key path.
struct SQLJoins {
    let tables: SQLTables
    private let entity: EntityIndex
    private var aliases: [[CheckedPath.Step]: String] = [:]
    private var clauses: [String] = []
    /// The tables of the enclosing conditions, outermost first. A path that begins at an outer object adds its joins there.
    private var outer: [SQLJoins] = []

    /// The prefix of the table aliases, so that those of a subquery do not hide those of the enclosing statement.
    let scope: String
    /// The alias of the first table.
    var alias: String { scope + "t0" }

    init(tables: SQLTables, entity: EntityIndex, scope: String = "") {
        self.tables = tables
        self.entity = entity
        self.scope = scope
    }

    /// Whether there is only the first table.
    var isPlain: Bool { clauses.isEmpty }

    /// Returns the key of the destination of to-one relationships.
    mutating func key(_ steps: [CheckedPath.Step]) -> SQLText { "\(raw: alias(steps)).\"_id\"" }

    /// Returns the column at the end of a path and adds the joins of the path.
    mutating func column(_ path: CheckedPath) -> SQLText {
        let alias = alias(path.steps)
        switch path.leaf {
        case .key: return "\(raw: alias).\"_id\""
        case .slot(let slot): return "\(raw: alias).\(identifier: tables.column(path.entity, slot))"
        }
    }

    /// Returns the column at the end of a path that begins at an outer object. Level 1 is the object whose related objects these tables
    /// contain.
    mutating func column(outside level: Int, _ path: CheckedPath) -> SQLText {
        // The checker accepts only valid levels.
        guard outer.indices.contains(outer.count - level) else { return "NULL" }
        return outer[outer.count - level].column(path)
    }

    /// Compiles a subquery over related objects whose first table is that of `entity`.
    ///
    /// - Parameter isCondition: Whether these are the tables of the objects that the condition applies to, as opposed to tables on the way
    ///   to them.
    mutating func subquery<Result>(
        _ entity: EntityIndex, isCondition: Bool, _ compile: (inout SQLJoins) -> Result
    ) -> Result {
        var inner = SQLJoins(tables: tables, entity: entity, scope: scope + "m")
        inner.outer = outer
        if isCondition {
            outer = []
            inner.outer.append(self)
        }
        let result = compile(&inner)
        var outer = inner.outer
        if isCondition, let own = outer.popLast() { self = own }
        self.outer = outer
        return result
    }

    private mutating func alias(_ steps: [CheckedPath.Step]) -> String {
        guard let last = steps.last else { return alias }
        if let known = aliases[steps] { return known }
        let from = alias(Array(steps.dropLast()))
        let alias = "\(scope)t\(aliases.count + 1)"
        aliases[steps] = alias
        let table = SQLText.quoted(tables.table(last.destination))
        let column = SQLText.quoted(tables.column(last.entity, last.slot))
        clauses.append(" LEFT JOIN \(table) AS \(alias) ON \(alias).\"_id\" = \(from).\(column)")
        return alias
    }

    /// The FROM clause without its keyword.
    var text: SQLText { "\(identifier: tables.table(entity)) AS \(raw: alias)\(raw: clauses.joined())" }
}
