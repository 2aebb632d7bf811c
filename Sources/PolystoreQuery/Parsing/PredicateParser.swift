internal import PolystoreFoundation
internal import PolystoreSchema

/// Parses predicates in the grammar of `NSPredicate`
/// (https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/Predicates/Articles/pSyntax.html): comparisons and operators
/// on texts with `[c]` and `[d]`, `IN`, `BETWEEN`, `ANY`, `SOME`, `ALL`, `NONE`, `SUBQUERY`, `@count` and similar operations, arithmetic,
/// functions, `TERNARY`, placeholders.
///
/// Four forms are extensions, for features without a counterpart there: `ANY path SATISFIES (…)`, or `ANY path SATISFIES $x (…)` to also
/// read the outer object, `SELF ISA "Entity"`, `path SEARCH "words"`, and `DATE`, `UUID`, `DATA`, `DECIMAL` before a text.
struct PredicateParser {
    let tokens: [PredicateToken]
    private let closings: [Int: Int]
    var arguments: ArraySlice<PredicateArgument>
    var position = 0
    var depth = 0
    /// The variables of the enclosing conditions on related objects, innermost last; nil for one whose objects need none.
    var scopes: [String?] = []

    private init(_ text: String, _ arguments: [PredicateArgument]) throws(QueryError) {
        (tokens, closings) = try PredicateLexer.tokens(text)
        self.arguments = arguments[...]
    }

    static func parse(_ text: String, _ arguments: [PredicateArgument]) throws(QueryError) -> QueryPredicate {
        var parser = try PredicateParser(text, arguments)
        let predicate = try parser.disjunction()
        guard parser.current.kind == .end else { throw parser.expected("AND, OR or the end") }
        try parser.checkArguments()
        return predicate
    }

    static func parseExpression(_ text: String, _ arguments: [PredicateArgument]) throws(QueryError) -> QueryExpression {
        var parser = try PredicateParser(text, arguments)
        let expression = try parser.expression()
        guard parser.current.kind == .end else { throw parser.expected("an operator or the end") }
        try parser.checkArguments()
        return expression
    }

    func checkArguments() throws(QueryError) {
        if !arguments.isEmpty { throw QueryError("the predicate has \(arguments.count) fewer placeholders than arguments") }
    }

    var current: PredicateToken { tokens[position] }

    func expected(_ what: String) -> QueryError { QueryError("at character \(current.position): \(what) is expected") }

    mutating func take(word: String) -> Bool {
        guard isWord(word) else { return false }
        position += 1
        return true
    }

    func isWord(_ word: String, ahead: Int = 0) -> Bool {
        guard position + ahead < tokens.count, case .name(let name, isQuoted: false) = tokens[position + ahead].kind else { return false }
        return name.utf8.count == word.utf8.count && name.uppercased() == word
    }

    func isSymbol(_ symbol: String, ahead: Int = 0) -> Bool {
        position + ahead < tokens.count && tokens[position + ahead].kind == .symbol(symbol)
    }

    mutating func take(symbol: String) -> Bool {
        guard isSymbol(symbol) else { return false }
        position += 1
        return true
    }

    mutating func need(symbol: String) throws(QueryError) {
        if !take(symbol: symbol) { throw expected("\"\(symbol)\"") }
    }

    mutating func enter() throws(QueryError) {
        depth += 1
        if depth > PredicateLexer.deepest { throw PredicateLexer.tooDeep(current) }
    }

    // MARK: Conditions

    mutating func disjunction() throws(QueryError) -> QueryPredicate {
        try enter()
        defer { depth -= 1 }
        var parts = [try conjunction()]
        while take(word: "OR") || take(symbol: "||") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .or(parts)
    }

    mutating func conjunction() throws(QueryError) -> QueryPredicate {
        var parts = [try negation()]
        while take(word: "AND") || take(symbol: "&&") { parts.append(try negation()) }
        return parts.count == 1 ? parts[0] : .and(parts)
    }

    mutating func negation() throws(QueryError) -> QueryPredicate {
        var isNegated = false
        while take(word: "NOT") || take(symbol: "!") { isNegated.toggle() }
        let inner = try primary()
        return isNegated ? .not(inner) : inner
    }

    mutating func primary() throws(QueryError) -> QueryPredicate {
        if take(word: "TRUEPREDICATE") { return .constant(true) }
        if take(word: "FALSEPREDICATE") { return .constant(false) }
        for (word, quantifier) in [("ANY", Quantifier.any), ("SOME", .any), ("ALL", .all), ("NONE", .none)] where take(word: word) {
            return try related(quantifier)
        }
        if isSymbol("("), isCondition() {
            position += 1
            let inner = try disjunction()
            try need(symbol: ")")
            return inner
        }
        return try comparison()
    }

    /// Returns whether a parenthesis contains a condition and not an expression, determined by the token after its closing parenthesis.
    func isCondition() -> Bool {
        guard let closing = closings[position] else { return true }
        switch tokens[closing + 1].kind {
        case .end: return true
        case .symbol(let symbol): return [")", "&&", "||", ","].contains(symbol)
        case .name(let name, isQuoted: false): return ["AND", "OR"].contains(name.uppercased())
        case .name, .operation, .variable, .placeholder, .number, .text: return false
        }
    }

    mutating func related(_ quantifier: Quantifier) throws(QueryError) -> QueryPredicate {
        let start = current.position
        if isSatisfiesAhead() {
            let path = try relationship()
            position += 1
            var variable: String?
            if case .variable(let name) = current.kind {
                variable = name
                position += 1
            }
            try need(symbol: "(")
            let inner = try within(variable)
            try need(symbol: ")")
            return .related(quantifier, path, inner)
        }
        let found: QueryPredicate
        if isSymbol("("), isCondition() {
            position += 1
            found = try disjunction()
            try need(symbol: ")")
            if !found.isOneComparison {
                let word = quantifier.rawValue
                throw QueryError("at character \(start): one comparison is expected after \(word); use \(word) … SATISFIES (…)")
            }
        } else {
            found = try comparison()
        }
        if found.readsPath { return .quantified(quantifier, found) }
        throw QueryError("at character \(start): a key path through a relationship is expected after \(quantifier.rawValue)")
    }

    /// Returns whether a key path followed by SATISFIES begins here.
    func isSatisfiesAhead() -> Bool {
        var ahead = 1
        while isSymbol(".", ahead: ahead) { ahead += 2 }
        return isWord("SATISFIES", ahead: ahead)
    }

    /// Parses the condition on related objects, whose properties begin with the variable; nil for no variable.
    mutating func within(_ variable: String?) throws(QueryError) -> QueryPredicate {
        scopes.append(variable)
        let condition = try disjunction()
        scopes.removeLast()
        return condition
    }

    /// The variable that begins here and represents a constant. No token is consumed.
    var openVariable: String? {
        if case .variable(let name) = current.kind, level(of: name) == nil, !isSymbol(".", ahead: 1) { name } else { nil }
    }

    private static let signs: [String: Comparison] = [
        "==": .equal, "=": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual, "=<": .lessOrEqual,
        ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
    ]
    private static let matches: [(String, TextMatch)] = [
        ("BEGINSWITH", .beginsWith), ("ENDSWITH", .endsWith), ("CONTAINS", .contains), ("LIKE", .like), ("MATCHES", .matches),
        ("SEARCH", .search),
    ]

    mutating func comparison() throws(QueryError) -> QueryPredicate {
        let left = try expression()
        if case .symbol(let sign) = current.kind, let comparison = Self.signs[sign] {
            position += 1
            let options = try options()
            return .compare(left.folded(options), comparison, try expression().folded(options))
        }
        for (word, match) in Self.matches where take(word: word) {
            let options = try options()
            switch try expression().node {
            case .value(.string(let needle)): return .text(left.folded(options), match, needle)
            case .variable(let name): return .open(left.folded(options), .text(match), name)
            case .path, .outer, .value, .function, .conditional, .related, .aggregate: throw expected("a text")
            }
        }
        if take(word: "IN") {
            let options = try options()
            return try isIn(left, options)
        }
        if take(word: "BETWEEN") { return try between(left) }
        if take(word: "ISA") {
            guard left == .path(.object) else { throw expected("SELF before ISA") }
            guard case .value(.string(let name)) = try expression().node else { throw expected("the name of an entity") }
            return .isEntity(name)
        }
        throw expected("a comparison")
    }

    mutating func options() throws(QueryError) -> TextOptions {
        guard take(symbol: "[") else { return [] }
        guard case .name(let letters, isQuoted: false) = current.kind else { throw expected("c, d or cd") }
        var options: TextOptions = []
        for letter in letters.lowercased() {
            switch letter {
            case "c": options.insert(.caseInsensitive)
            case "d": options.insert(.diacriticInsensitive)
            case "n": break  // bytes are compared in any case
            default: throw expected("c, d or cd")
            }
        }
        position += 1
        try need(symbol: "]")
        return options
    }

    mutating func isIn(_ plain: QueryExpression, _ options: TextOptions) throws(QueryError) -> QueryPredicate {
        let left = plain.folded(options)
        if case .placeholder("@") = current.kind, case .list(let values)? = arguments.first {
            position += 1
            arguments.removeFirst()
            return .isIn(left, values)
        }
        if isSymbol("{") {
            let list = try constants()
            let values = list.compactMap { if case .value(let value) = $0.node { value } else { nil } }
            if values.count == list.count { return .isIn(left, values) }
            // A list with variables becomes a comparison with each element.
            let parts = list.map { QueryPredicate.compare(left, .equal, $0.folded(options)) }
            return parts.count == 1 ? parts[0] : .or(parts)
        }
        if let name = openVariable {
            position += 1
            return .open(left, .isIn, name)
        }
        // `"x" IN path` tests whether a text contains another; `object IN friends` whether an object is among the related ones.
        let right = try expression()
        switch (left.node, right.node) {
        case (.value(.string(let needle)), .path), (.value(.string(let needle)), .outer): return .text(right, .contains, needle)
        case (_, .path(let path)): return .related(.any, path, .compare(.path(.object), .equal, try left.inside(1)))
        case (_, .outer(_, let path)): throw ReferenceRewriter.outside(path)
        case (_, .value), (_, .variable), (_, .function), (_, .conditional), (_, .related), (_, .aggregate):
            throw expected("a list in braces or a key path")
        }
    }

    mutating func between(_ left: QueryExpression) throws(QueryError) -> QueryPredicate {
        if case .placeholder("@") = current.kind, case .list(let values)? = arguments.first, values.count == 2 {
            position += 1
            arguments.removeFirst()
            return .between(left, .value(values[0]), .value(values[1]))
        }
        if let name = openVariable {
            position += 1
            return .open(left, .between, name)
        }
        try need(symbol: "{")
        let low = try expression()
        try need(symbol: ",")
        let high = try expression()
        try need(symbol: "}")
        return .between(left, low, high)
    }

    /// Parses the constants of a list, and variables that represent some of them.
    mutating func constants() throws(QueryError) -> [QueryExpression] {
        try need(symbol: "{")
        var constants: [QueryExpression] = []
        if take(symbol: "}") { return [] }
        repeat {
            let constant = try expression()
            switch constant.node {
            case .value, .variable: constants.append(constant)
            case .path, .outer, .function, .conditional, .related, .aggregate: throw expected("a constant")
            }
        } while take(symbol: ",")
        guard take(symbol: "}") else { throw expected("\",\" or \"}\"") }
        return constants
    }
}

extension QueryExpression {
    /// Returns the expression folded by the options of a comparison.
    public func folded(_ options: TextOptions) -> QueryExpression { options.isEmpty ? self : .function(.folded(options), [self]) }
}

extension QueryPredicate {
    /// Creates the predicate of a text such as `name BEGINSWITH[c] %@ AND ANY friends.age > %d`.
    ///
    /// - Parameter arguments: The arguments of the placeholders, in their order.
    /// - Throws: `QueryError` with the position and the expected element.
    public init(parsing text: String, arguments: [PredicateArgument] = []) throws(QueryError) {
        self = try PredicateParser.parse(text, arguments)
    }
}

extension QueryExpression {
    /// Creates the expression of a text such as `price * 1.19` or `friends.@max.age`.
    ///
    /// - Throws: `QueryError` with the position and the expected element.
    public init(parsing text: String, arguments: [PredicateArgument] = []) throws(QueryError) {
        self = try PredicateParser.parseExpression(text, arguments)
    }
}

extension QueryPredicate {
    /// Whether it is one comparison. In its printed form, one with related objects or with a list that contains a variable has parentheses
    /// after a quantifier.
    fileprivate var isOneComparison: Bool {
        switch node {
        case .compare, .isIn, .between, .text, .open, .related: return true
        case .or(let parts):
            let compared = parts.map { if case .compare(let subject, .equal, _) = $0.node { subject } else { QueryExpression?.none } }
            return compared.allSatisfy { $0 != nil && $0 == compared[0] }
        case .constant, .quantified, .isEntity, .and, .not: return false
        }
    }
}
