internal import PolystoreStorage

/// The tables of a statement or subquery: that of the fetch as `t0`, and one join for each relationship on the way of a key path.
struct SQLJoins {
    let tables: SQLTables
    private let entity: EntityIndex
    private var aliases: [[CheckedPath.Step]: String] = [:]
    private var clauses: [String] = []
    /// Those of the objects outside of the conditions around, outermost first: what is looked at there needs joins there.
    private var outer: [SQLJoins] = []

    /// What the names of the tables begin with: inside of a subquery they must not hide those outside.
    let scope: String
    /// The name of the first table.
    var alias: String { scope + "t0" }

    init(tables: SQLTables, entity: EntityIndex, scope: String = "") {
        self.tables = tables
        self.entity = entity
        self.scope = scope
    }

    /// Whether there is no table but the first.
    var isPlain: Bool { clauses.isEmpty }

    /// The key of the object that to-one relationships lead to.
    mutating func key(_ steps: [CheckedPath.Step]) -> SQLText { "\(raw: alias(steps)).\"_id\"" }

    /// The column at the end of a path, its joins added.
    mutating func column(_ path: CheckedPath) -> SQLText {
        let alias = alias(path.steps)
        switch path.leaf {
        case .key: return "\(raw: alias).\"_id\""
        case .slot(let slot): return "\(raw: alias).\(identifier: tables.column(path.entity, slot))"
        }
    }

    /// The column at the end of a path from an object outside: from the one whose related objects these are for level 1.
    mutating func column(outside level: Int, _ path: CheckedPath) -> SQLText {
        // The checker lets no other level through.
        guard outer.indices.contains(outer.count - level) else { return "NULL" }
        return outer[outer.count - level].column(path)
    }

    /// Compiles a subquery over related objects whose tables begin with an entity's.
    ///
    /// - Parameter isCondition: Whether these are the tables of the object that the condition is about; on the way to it they are not.
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

    /// The FROM clause without its word.
    var text: SQLText { "\(identifier: tables.table(entity)) AS \(raw: alias)\(raw: clauses.joined())" }
}
