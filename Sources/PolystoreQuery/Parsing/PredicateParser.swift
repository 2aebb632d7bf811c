internal import Foundation
internal import PolystoreSchema

/// Reads predicates in the manner of `NSPredicate`: comparisons, `BETWEEN {a, b}`, `IN {a, b}`, `BEGINSWITH`, `ENDSWITH`, `CONTAINS`,
/// `AND`, `OR`, `NOT` and their signs, parentheses, `TRUEPREDICATE`; numbers, texts, `TRUE`, `FALSE`, `NIL`, and `DATE`, `UUID`, `DATA`,
/// `DECIMAL` before a text.
struct PredicateParser {
    private static let deepest = 200

    private let tokens: [PredicateToken]
    private var position = 0
    private var depth = 0

    private init(_ text: String) throws(QueryError) { tokens = try PredicateLexer.tokens(text) }

    static func parse(_ text: String) throws(QueryError) -> Predicate {
        var parser = try PredicateParser(text)
        let predicate = try parser.disjunction()
        guard parser.current.kind == .end else { throw parser.expected("AND, OR or the end") }
        return predicate
    }

    private var current: PredicateToken { tokens[position] }

    private func expected(_ what: String) -> QueryError { QueryError("at character \(current.position): \(what) is expected") }

    private mutating func take(word: String) -> Bool {
        guard case .name(let name) = current.kind, name.uppercased() == word else { return false }
        position += 1
        return true
    }

    private mutating func take(symbol: String) -> Bool {
        guard current.kind == .symbol(symbol) else { return false }
        position += 1
        return true
    }

    private mutating func disjunction() throws(QueryError) -> Predicate {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.deepest { throw QueryError(.tooComplex, "at most \(Self.deepest) levels of parentheses are allowed") }
        var parts = [try conjunction()]
        while take(word: "OR") || take(symbol: "||") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    private mutating func conjunction() throws(QueryError) -> Predicate {
        var parts = [try negation()]
        while take(word: "AND") || take(symbol: "&&") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    private mutating func negation() throws(QueryError) -> Predicate {
        var isNegated = false
        while take(word: "NOT") || take(symbol: "!") { isNegated.toggle() }
        let inner = try primary()
        return isNegated ? .not(inner) : inner
    }

    private mutating func primary() throws(QueryError) -> Predicate {
        if take(word: "TRUEPREDICATE") { return .constant(true) }
        if take(word: "FALSEPREDICATE") { return .constant(false) }
        if take(symbol: "(") {
            let inner = try disjunction()
            guard take(symbol: ")") else { throw expected("\")\"") }
            return inner
        }
        return try comparison()
    }

    private mutating func comparison() throws(QueryError) -> Predicate {
        let left = try operand()
        if case .path(let path) = left, let special = try listOrText(path) { return special }
        let signs: [String: Comparison] = [
            "==": .equal, "=": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual, "=<": .lessOrEqual,
            ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
        ]
        guard case .symbol(let sign) = current.kind, let comparison = signs[sign] else { throw expected("a comparison") }
        position += 1
        return .compare(left, comparison, try operand())
    }

    private mutating func listOrText(_ path: PropertyPath) throws(QueryError) -> Predicate? {
        for (word, match) in [("BEGINSWITH", TextMatch.beginsWith), ("ENDSWITH", .endsWith), ("CONTAINS", .contains)] where take(word: word)
        {
            guard case .text(let needle) = current.kind else { throw expected("a text in quotes") }
            position += 1
            return .text(path, match, needle)
        }
        if take(word: "IN") { return .isIn(path, try list()) }
        guard take(word: "BETWEEN") else { return nil }
        let bounds = try list()
        guard bounds.count == 2 else { throw expected("a list of two values after BETWEEN") }
        return .between(path, bounds[0], bounds[1])
    }

    private mutating func list() throws(QueryError) -> [Value] {
        guard take(symbol: "{") else { throw expected("\"{\"") }
        var values: [Value] = []
        if take(symbol: "}") { return [] }
        repeat {
            guard case .value(let value) = try operand() else { throw expected("a constant") }
            values.append(value)
        } while take(symbol: ",")
        guard take(symbol: "}") else { throw expected("\",\" or \"}\"") }
        return values
    }

    private mutating func operand() throws(QueryError) -> Expression {
        switch current.kind {
        case .number(let text):
            guard let value = Int64(text).map(Value.int) ?? Double(text).map(Value.double) else { throw expected("a number in range") }
            position += 1
            return .value(value)
        case .text(let text):
            position += 1
            return .value(.string(text))
        case .name(let name): return try named(name)
        case .symbol, .end: throw expected("a property or a constant")
        }
    }

    private mutating func named(_ name: String) throws(QueryError) -> Expression {
        position += 1
        switch name.uppercased() {
        case "TRUE", "YES": return .value(.bool(true))
        case "FALSE", "NO": return .value(.bool(false))
        case "NIL", "NULL": return .value(.null)
        case "INFINITY": return .value(.double(.infinity))
        case "DATE", "UUID", "DATA", "DECIMAL":
            guard case .text(let text) = current.kind else { return .path(PropertyPath(name)) }
            let types: [String: ValueType] = ["DATE": .date, "UUID": .uuid, "DATA": .data, "DECIMAL": .decimal]
            guard let type = types[name.uppercased()], let value = ValueText.value(text, as: type) else {
                throw expected("a \(name.lowercased()) in its text form")
            }
            position += 1
            return .value(value)
        default: return .path(PropertyPath(name))
        }
    }
}

extension Predicate {
    /// The predicate of a text such as `age > 30 AND name BEGINSWITH "A"`.
    ///
    /// - Throws: `QueryError` with the position and what was expected there.
    public init(parsing text: String) throws(QueryError) { self = try PredicateParser.parse(text) }
}
