internal import PolystoreStorage

/// The size of a statement. Engines limit the number of its values, its nesting, and the number of joined tables.
///
/// SQLite accepts 32,766 values unless it was built for more, and 64 tables (https://sqlite.org/limits.html). Its parser holds few symbols.
/// PostgreSQL accepts 65,535 values, and needs time and memory for each table. The layer above the store answers larger requests.
///
/// The depth of a condition is the maximum number of symbols that a parser holds while it reads the condition: of everything that has begun
/// and is not complete. For example, `f('a', b, c + d` are seven before `d`: the name, the parenthesis, the absent DISTINCT, the list of
/// arguments, the comma, `c` and the operator.
struct SQLSize {
    private static let mostTerms = 16_000, mostVariables = 32_000, mostTables = 60, mostSubqueries = 200

    private let dialect: SQLDialect
    private var terms = 0, variables = 0, deepest = 0, subqueries = 0
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

    /// Whether an engine accepts new values of attributes.
    static func fits(_ values: [CheckedExpression], _ dialect: SQLDialect) -> Bool {
        var size = SQLSize(dialect)
        for value in values { size.add(value) }
        return size.fits
    }

    private var fits: Bool {
        deepest <= dialect.mostDepth && terms <= Self.mostTerms && terms + variables <= Self.mostVariables && joins.count < Self.mostTables
            && subqueries <= Self.mostSubqueries
    }

    private mutating func add(_ plan: FetchPlan) {
        deepest = max(deepest, depth(plan.predicate))
        // The parts that cannot fail are repeated before those that can.
        if plan.predicate.canFail { (terms, variables) = (2 * terms, 2 * variables) }
        for key in plan.sort { add(key.expression) }
    }

    private mutating func add(_ expression: CheckedExpression) { deepest = max(deepest, depth(expression)) }

    private mutating func add(_ steps: [CheckedPath.Step]) {
        for last in steps.indices { joins.insert(Array(steps[...last])) }
    }

    /// The depth of a condition on a property: at most that of a search in a list or in a full-text index, which is a subquery.
    private static let leaf = 13

    private mutating func depth(_ condition: CheckedPredicate) -> Int {
        terms += 1
        switch condition {
        case .constant, .isEntity: return Self.leaf
        case .isNil(let path), .compare(.path(let path), _, .value), .text(.path(let path), _, _):
            add(path.steps)
            return Self.leaf
        case .compare(.path(let a), _, .path(let b)):
            add(a.steps)
            add(b.steps)
            return Self.leaf
        case .isIn(.path(let path), let values):
            add(path.steps)
            variables += dialect.variables(values.count, path.type)
            return Self.leaf
        case .compare(let a, _, let b): return 3 + max(depth(a), depth(b))
        case .isIn(let expression, let values):
            variables += dialect.variables(values.count, expression.type)
            return max(Self.leaf, depth(expression))
        case .text(let expression, _, _): return max(Self.leaf, 3 + depth(expression))
        case .related(let members): return depth(members)
        case .and(let parts), .or(let parts):
            var deepest = 0
            for part in parts { deepest = max(deepest, depth(part)) }
            // CASE WHEN (a) IS NOT TRUE THEN 0 WHEN (b …
            return deepest + max(5, Self.chain(parts.count))
        case .not(let part): return 1 + depth(part)
        }
    }

    private mutating func depth(_ expression: CheckedExpression) -> Int {
        terms += 1
        switch expression {
        case .path(let path), .outer(_, let path):
            add(path.steps)
            return 3
        case .value: return 3
        case .function(_, let arguments, _):
            var deepest = 0
            for argument in arguments { deepest = max(deepest, depth(argument)) }
            // f('a', b … and (CAST(a AS INTEGER) + CAST(b …
            return deepest + max(5, Self.chain(arguments.count))
        case .conditional(let condition, let a, let b, let type):
            // CASE WHEN a THEN b …, where b may be a call that converts a number.
            let isConverted = a.type != type || b.type != type
            return 5 + max(depth(condition), (isConverted ? 5 : 0) + max(depth(a), depth(b)))
        case .related(_, let members, let path, _):
            if let path { add(path.steps) }
            return depth(members)
        }
    }

    private mutating func depth(_ members: CheckedMembers) -> Int {
        var steps: [CheckedPath.Step] = [], depth = 0
        for hop in members.hops {
            switch hop {
            case .toOne(let step): steps.append(step)
            case .toMany:
                subqueries += 1
                // EXISTS (SELECT 1 FROM b WHERE b.a = a.id AND c …
                depth += 9
                add(steps)
                steps = []
            }
        }
        // … AND CASE WHEN (b.a = a.id) IS NOT TRUE THEN 0 ELSE c …
        if members.predicate.canFail { depth += 4 }
        return depth + max(Self.leaf, self.depth(members.predicate))
    }

    /// Returns the depth of a chain of `count` parts in parentheses (`SQLText.joinedChain`), without that of the parts.
    private static func chain(_ count: Int) -> Int { count <= 8 ? 3 : 1 + 3 * (Int.bitWidth - (count - 1).leadingZeroBitCount) }
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
