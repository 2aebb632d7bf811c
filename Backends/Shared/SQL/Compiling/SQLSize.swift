internal import PolystoreStorage

/// The size of a statement. Engines limit the number of its values, the depth of an expression, and the number of joined tables.
///
/// SQLite accepts 32,766 values unless it was built for more, a depth of 1,000, to which each operator of a chain counts, and 64 tables
/// (https://sqlite.org/limits.html). PostgreSQL accepts 65,535 values, and needs time and memory for each table. The layer above the store
/// answers larger requests.
struct SQLSize {
    private static let mostTerms = 16_000, mostVariables = 32_000, mostHeight = 400, mostTables = 60, mostSubqueries = 200

    private let dialect: SQLDialect
    private var terms = 0, variables = 0, highest = 0, subqueries = 0
    /// The to-one relationships of key paths; each requires a join.
    private var joins: Set<[CheckedPath.Step]> = []

    private init(_ dialect: SQLDialect) { self.dialect = dialect }

    /// Whether an engine accepts the condition and the order of a fetch.
    static func fits(_ plan: FetchPlan, _ dialect: SQLDialect) -> Bool {
        var size = SQLSize(dialect)
        size.add(plan)
        return size.fits
    }

    /// Whether an engine accepts a value query.
    static func fits(_ plan: QueryPlan, _ dialect: SQLDialect) -> Bool {
        var size = SQLSize(dialect)
        size.add(plan.fetch)
        switch plan.kind {
        case .rows(let outputs): for output in outputs { size.add(output) }
        case .groups(let grouping): for part in grouping.keys + grouping.aggregates.compactMap(\.argument) { size.add(part) }
        }
        return size.fits
    }

    private var fits: Bool {
        highest <= Self.mostHeight && terms <= Self.mostTerms && terms + variables <= Self.mostVariables && joins.count < Self.mostTables
            && subqueries <= Self.mostSubqueries
    }

    private mutating func add(_ plan: FetchPlan) {
        highest = max(highest, height(plan.predicate))
        // The parts that cannot fail are repeated before those that can.
        if plan.predicate.canFail { (terms, variables) = (2 * terms, 2 * variables) }
        for key in plan.sort { add(key.expression) }
    }

    private mutating func add(_ expression: CheckedExpression) { highest = max(highest, height(expression)) }

    private mutating func add(_ steps: [CheckedPath.Step]) {
        for last in steps.indices { joins.insert(Array(steps[...last])) }
    }

    private mutating func height(_ condition: CheckedPredicate) -> Int {
        terms += 1
        switch condition {
        case .constant, .isEntity: return 3
        case .isNil(let path), .compare(let path, _, _), .text(let path, _, _):
            add(path.steps)
            return 3
        case .comparePaths(let a, _, let b):
            add(a.steps)
            add(b.steps)
            return 3
        case .isIn(let path, let values):
            add(path.steps)
            variables += dialect.variables(values.count, path.type)
            return 3
        case .compareExpressions(let a, _, let b): return 3 + max(height(a), height(b))
        case .isInExpression(let expression, let values):
            variables += dialect.variables(values.count, expression.type)
            return 3 + height(expression)
        case .textOf(let expression, _, _): return 3 + height(expression)
        case .related(let members): return 3 + height(members)
        case .and(let parts), .or(let parts):
            var highest = 0
            for part in parts { highest = max(highest, height(part)) }
            return highest + Self.levels(parts.count)
        case .not(let part): return 2 + height(part)
        }
    }

    private mutating func height(_ expression: CheckedExpression) -> Int {
        terms += 1
        switch expression {
        case .path(let path), .outer(_, let path):
            add(path.steps)
            return 1
        case .value: return 1
        case .function(_, let arguments, _):
            var highest = 0
            for argument in arguments { highest = max(highest, height(argument)) }
            return 3 + highest
        case .conditional(let condition, let a, let b, _): return 2 + max(height(condition), height(a), height(b))
        case .related(_, let members, let path, _):
            if let path { add(path.steps) }
            return 3 + height(members)
        }
    }

    private mutating func height(_ members: CheckedMembers) -> Int {
        var steps: [CheckedPath.Step] = []
        for hop in members.hops {
            switch hop {
            case .toOne(let step): steps.append(step)
            case .toMany:
                subqueries += 1
                add(steps)
                steps = []
            }
        }
        return height(members.predicate)
    }

    /// Returns the depth of a chain of `count` parts (`SQLText.joinedChain`).
    private static func levels(_ count: Int) -> Int { count <= 8 ? count : 1 + Int.bitWidth - (count - 1).leadingZeroBitCount }
}

extension SQLText {
    /// Returns texts joined by an associative operator. More than eight parts are grouped recursively in halves, because the depth of a
    /// plain chain equals its length.
    static func joinedChain(_ parts: [SQLText], _ separator: String) -> SQLText {
        parts.count <= 8 ? joined(parts, separator) : joinedInHalves(parts[...], separator)
    }

    private static func joinedInHalves(_ parts: ArraySlice<SQLText>, _ separator: String) -> SQLText {
        if parts.count <= 2 { return joined(Array(parts), separator) }
        let middle = parts.startIndex + parts.count / 2
        let first = joinedInHalves(parts[..<middle], separator), second = joinedInHalves(parts[middle...], separator)
        return "(\(first))\(raw: separator)(\(second))"
    }
}
