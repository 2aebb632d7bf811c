internal import PolystoreStorage

/// How large the text of a condition becomes: engines limit the values of a statement and the height of an expression.
///
/// SQLite takes 32,766 values unless it was built for more, and a height of 1,000, in which each operator of a chain counts
/// (https://sqlite.org/limits.html); PostgreSQL takes 65,535 values. What is larger is answered above the store.
struct SQLSize {
    private static let mostTerms = 16_000, mostHeight = 400

    private var terms = 0

    /// Whether a condition can be given to an engine.
    static func fits(_ condition: CheckedPredicate) -> Bool {
        var size = SQLSize()
        return size.height(condition) <= mostHeight && size.terms <= mostTerms
    }

    private mutating func height(_ condition: CheckedPredicate) -> Int {
        terms += 1
        switch condition {
        case .constant, .isNil, .compare, .comparePaths, .isIn, .text, .isEntity: return 3
        case .compareExpressions(let a, _, let b): return 3 + max(height(a), height(b))
        case .isInExpression(let expression, _), .textOf(let expression, _, _): return 3 + height(expression)
        case .related(let members): return 3 + height(members.predicate)
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
        case .path, .outer, .value: return 1
        case .function(_, let arguments, _):
            var highest = 0
            for argument in arguments { highest = max(highest, height(argument)) }
            return 3 + highest
        case .conditional(let condition, let a, let b, _): return 2 + max(height(condition), height(a), height(b))
        case .related(_, let members, _, _): return 3 + height(members.predicate)
        }
    }

    /// The height of so many parts in a chain (`SQLText.joinedChain`).
    private static func levels(_ count: Int) -> Int { count <= 8 ? count : 1 + Int.bitWidth - (count - 1).leadingZeroBitCount }
}

extension SQLText {
    /// Texts with an operator between them that may be grouped at will: in halves where they are many, because a chain is as high as it is
    /// long. Few are left as people write them.
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
