internal import PolystoreStorage

/// The tables of a statement: that of the fetch as `t0`, and one join for each relationship on the way of a key path.
struct SQLJoins {
    let tables: SQLTables
    private let entity: EntityIndex
    private var aliases: [[CheckedPath.Step]: String] = [:]
    private var clauses: [String] = []

    init(tables: SQLTables, entity: EntityIndex) {
        self.tables = tables
        self.entity = entity
    }

    /// The column at the end of a path, its joins added.
    mutating func column(_ path: CheckedPath) -> SQLText {
        let alias = alias(path.steps)
        switch path.leaf {
        case .key: return "\(raw: alias).\"_id\""
        case .slot(let slot): return "\(raw: alias).\(identifier: tables.column(path.entity, slot))"
        }
    }

    private mutating func alias(_ steps: [CheckedPath.Step]) -> String {
        guard let last = steps.last else { return "t0" }
        if let known = aliases[steps] { return known }
        let from = alias(Array(steps.dropLast()))
        let alias = "t\(aliases.count + 1)"
        aliases[steps] = alias
        let table = SQLText.quoted(tables.table(last.destination))
        let column = SQLText.quoted(tables.column(last.entity, last.slot))
        clauses.append(" LEFT JOIN \(table) AS \(alias) ON \(alias).\"_id\" = \(from).\(column)")
        return alias
    }

    /// The FROM clause without its word.
    var text: SQLText { "\(identifier: tables.table(entity)) AS t0\(raw: clauses.joined())" }
}
