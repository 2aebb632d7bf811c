internal import Foundation
public import PolystoreSchema

/// What stands for a placeholder of a predicate's text.
public enum PredicateArgument: Sendable, Hashable {
    /// A constant, for `%@`, `%d`, `%f` and their like.
    case value(Value)
    /// Constants, for `IN %@` and `BETWEEN %@`.
    case list([Value])
    /// A key path, for `%K`.
    case path(PropertyPath)
}

/// Reads predicates in the grammar of `NSPredicate`
/// (https://developer.apple.com/library/archive/documentation/Cocoa/Conceptual/Predicates/Articles/pSyntax.html): comparisons and
/// operators on texts with `[c]` and `[d]`, `IN`, `BETWEEN`, `ANY`, `SOME`, `ALL`, `NONE`, `SUBQUERY`, `@count` and its like, arithmetic,
/// functions, `TERNARY`, placeholders.
///
/// Four forms are of our own, for what has none there: `ANY path SATISFIES (…)`, `SELF ISA "Entity"`, `path SEARCH "words"`, and `DATE`,
/// `UUID`, `DATA`, `DECIMAL` before a text.
struct PredicateParser {
    private static let deepest = 200

    private let tokens: [PredicateToken]
    private var arguments: ArraySlice<PredicateArgument>
    private var position = 0
    private var depth = 0
    /// The variables of the subqueries around, innermost last.
    private var variables: [String] = []

    private init(_ text: String, _ arguments: [PredicateArgument]) throws(QueryError) {
        tokens = try PredicateLexer.tokens(text)
        self.arguments = arguments[...]
    }

    static func parse(_ text: String, _ arguments: [PredicateArgument]) throws(QueryError) -> Predicate {
        var parser = try PredicateParser(text, arguments)
        let predicate = try parser.disjunction()
        guard parser.current.kind == .end else { throw parser.expected("AND, OR or the end") }
        try parser.checkArguments()
        return predicate
    }

    static func parseExpression(_ text: String, _ arguments: [PredicateArgument]) throws(QueryError) -> Expression {
        var parser = try PredicateParser(text, arguments)
        let expression = try parser.expression()
        guard parser.current.kind == .end else { throw parser.expected("an operator or the end") }
        try parser.checkArguments()
        return expression
    }

    private func checkArguments() throws(QueryError) {
        if !arguments.isEmpty { throw QueryError("there are \(arguments.count) more arguments than placeholders") }
    }

    private var current: PredicateToken { tokens[position] }

    private func expected(_ what: String) -> QueryError { QueryError("at character \(current.position): \(what) is expected") }

    private mutating func take(word: String) -> Bool {
        guard isWord(word) else { return false }
        position += 1
        return true
    }

    private func isWord(_ word: String, ahead: Int = 0) -> Bool {
        guard position + ahead < tokens.count, case .name(let name, isQuoted: false) = tokens[position + ahead].kind else { return false }
        return name.utf8.count == word.utf8.count && name.uppercased() == word
    }

    private func isSymbol(_ symbol: String, ahead: Int = 0) -> Bool {
        position + ahead < tokens.count && tokens[position + ahead].kind == .symbol(symbol)
    }

    private mutating func take(symbol: String) -> Bool {
        guard isSymbol(symbol) else { return false }
        position += 1
        return true
    }

    private mutating func need(symbol: String) throws(QueryError) {
        if !take(symbol: symbol) { throw expected("\"\(symbol)\"") }
    }

    private mutating func enter() throws(QueryError) {
        depth += 1
        if depth > Self.deepest {
            throw QueryError(.tooComplex, "at character \(current.position): at most \(Self.deepest) levels of parentheses are allowed")
        }
    }

    // MARK: Conditions

    private mutating func disjunction() throws(QueryError) -> Predicate {
        try enter()
        defer { depth -= 1 }
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

    /// Whether a parenthesis holds a condition, not an expression: what follows the one that closes it decides.
    private func isCondition() -> Bool {
        var level = 0, index = position
        while index < tokens.count {
            if tokens[index].kind == .symbol("(") { level += 1 }
            if tokens[index].kind == .symbol(")") { level -= 1 }
            if level == 0 { break }
            index += 1
        }
        guard index + 1 < tokens.count else { return true }
        switch tokens[index + 1].kind {
        case .end: return true
        case .symbol(let symbol): return [")", "&&", "||", ","].contains(symbol)
        case .name(let name, isQuoted: false): return ["AND", "OR"].contains(name.uppercased())
        case .name, .operation, .variable, .placeholder, .number, .text: return false
        }
    }

    private mutating func related(_ quantifier: Quantifier) throws(QueryError) -> Predicate {
        let start = current.position
        if let path = try? pathAhead(), isSatisfies(path.end) {
            position = path.end + 1
            try need(symbol: "(")
            let inner = try disjunction()
            try need(symbol: ")")
            return .related(quantifier, path.path, inner)
        }
        let found = try comparison()
        // The condition is one on the last name; what comes before it leads to the objects.
        var relationship: PropertyPath?
        let inner = found.rebased { path in
            let names = path.names.count > 1 ? Array(path.names.dropLast()) : path.names
            relationship = relationship ?? PropertyPath(names)
            return path.names.count > 1 ? PropertyPath([path.names[path.names.count - 1]]) : .object
        }
        guard let relationship else {
            throw QueryError("at character \(start): a key path through a relationship is expected after \(quantifier.rawValue)")
        }
        return .related(quantifier, relationship, inner)
    }

    private func isSatisfies(_ index: Int) -> Bool {
        index < tokens.count
            && {
                if case .name(let name, isQuoted: false) = tokens[index].kind { name.uppercased() == "SATISFIES" } else { false }
            }()
    }

    /// The key path that begins here and the position behind it, nothing taken.
    private func pathAhead() throws(QueryError) -> (path: PropertyPath, end: Int) {
        var copy = self
        let path = try copy.propertyPath()
        return (path, copy.position)
    }

    private static let signs: [String: Comparison] = [
        "==": .equal, "=": .equal, "!=": .notEqual, "<>": .notEqual, "<": .less, "<=": .lessOrEqual, "=<": .lessOrEqual,
        ">": .greater, ">=": .greaterOrEqual, "=>": .greaterOrEqual,
    ]
    private static let matches: [(String, TextMatch)] = [
        ("BEGINSWITH", .beginsWith), ("ENDSWITH", .endsWith), ("CONTAINS", .contains), ("LIKE", .like), ("MATCHES", .matches),
        ("SEARCH", .search),
    ]

    private mutating func comparison() throws(QueryError) -> Predicate {
        let left = try expression()
        if case .symbol(let sign) = current.kind, let comparison = Self.signs[sign] {
            position += 1
            let options = try options()
            return .compare(left.folded(options), comparison, try expression().folded(options))
        }
        for (word, match) in Self.matches where take(word: word) {
            let options = try options()
            guard case .value(.string(let needle)) = try expression().node else { throw expected("a text") }
            return .text(left.folded(options), match, needle)
        }
        if take(word: "IN") {
            let options = try options()
            return try isIn(left.folded(options))
        }
        if take(word: "BETWEEN") { return try between(left) }
        if take(word: "ISA") {
            guard left == .path(.object) else { throw expected("SELF before ISA") }
            guard case .value(.string(let name)) = try expression().node else { throw expected("the name of an entity") }
            return .isEntity(name)
        }
        throw expected("a comparison")
    }

    private mutating func options() throws(QueryError) -> TextOptions {
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

    private mutating func isIn(_ left: Expression) throws(QueryError) -> Predicate {
        if case .placeholder("@") = current.kind, case .list(let values)? = arguments.first {
            position += 1
            arguments.removeFirst()
            return .isIn(left, values)
        }
        if isSymbol("{") { return .isIn(left, try constants()) }
        // `"x" IN path` asks whether a text has another within; `object IN friends` whether it is among them.
        let right = try expression()
        switch (left.node, right.node) {
        case (.value(.string(let needle)), .path): return .text(right, .contains, needle)
        case (_, .path(let path)): return .related(.any, path, .compare(.path(.object), .equal, left))
        default: throw expected("a list in braces, or a key path")
        }
    }

    private mutating func between(_ left: Expression) throws(QueryError) -> Predicate {
        if case .placeholder("@") = current.kind, case .list(let values)? = arguments.first, values.count == 2 {
            position += 1
            arguments.removeFirst()
            return .between(left, .value(values[0]), .value(values[1]))
        }
        try need(symbol: "{")
        let low = try expression()
        try need(symbol: ",")
        let high = try expression()
        try need(symbol: "}")
        return .between(left, low, high)
    }

    private mutating func constants() throws(QueryError) -> [Value] {
        try need(symbol: "{")
        var values: [Value] = []
        if take(symbol: "}") { return [] }
        repeat {
            guard case .value(let value) = try expression().node else { throw expected("a constant") }
            values.append(value)
        } while take(symbol: ",")
        guard take(symbol: "}") else { throw expected("\",\" or \"}\"") }
        return values
    }

    // MARK: Expressions

    private mutating func expression() throws(QueryError) -> Expression {
        try enter()
        defer { depth -= 1 }
        var result = try product()
        while true {
            if take(symbol: "+") {
                result = .function(.add, [result, try product()])
            } else if take(symbol: "-") {
                result = .function(.subtract, [result, try product()])
            } else if take(symbol: "&") {
                result = .function(.bitAnd, [result, try product()])
            } else if take(symbol: "|") {
                result = .function(.bitOr, [result, try product()])
            } else {
                return result
            }
        }
    }

    private mutating func product() throws(QueryError) -> Expression {
        var result = try factor()
        while true {
            if take(symbol: "*") {
                result = .function(.multiply, [result, try factor()])
            } else if take(symbol: "/") {
                result = .function(.divide, [result, try factor()])
            } else {
                return result
            }
        }
    }

    private mutating func factor() throws(QueryError) -> Expression {
        if take(symbol: "-") {
            if case .number(let text) = current.kind { return .value(try number("-" + text)) }
            if isWord("INFINITY") {
                position += 1
                return .value(.double(-.infinity))
            }
            try enter()
            defer { depth -= 1 }
            return .function(.negate, [try factor()])
        }
        if take(symbol: "(") {
            let inner = try expression()
            try need(symbol: ")")
            return inner
        }
        switch current.kind {
        case .number(let text): return .value(try number(text))
        case .text(let text):
            position += 1
            return .value(.string(text))
        case .placeholder(let kind): return try placeholder(kind)
        case .variable: return try pathOrAggregate()
        case .name(let name, isQuoted: false): return try named(name)
        case .name: return try pathOrAggregate()
        case .operation(let name):
            guard isSymbol("(", ahead: 1), let function = Self.operations[name] else { throw expected("a property or a constant") }
            position += 2
            if take(symbol: ")") { return .aggregate(Aggregate(function)) }
            let argument = try expression()
            try need(symbol: ")")
            return .aggregate(Aggregate(function, of: argument))
        case .symbol, .end: throw expected("a property or a constant")
        }
    }

    private mutating func number(_ text: String) throws(QueryError) -> Value {
        var value: Value?
        if let hex = text.range(of: "0x") {
            value = Int64((text.hasPrefix("-") ? "-" : "") + text[hex.upperBound...], radix: 16).map(Value.int)
        } else {
            value = Int64(text).map(Value.int) ?? Double(text).flatMap { $0.isFinite ? Value.double($0) : nil }
        }
        guard let value else { throw expected("a number in range") }
        position += 1
        return value
    }

    private mutating func placeholder(_ kind: String) throws(QueryError) -> Expression {
        guard let argument = arguments.first else { throw expected("an argument for the placeholder") }
        switch (kind, argument) {
        case ("K", .path(let path)):
            position += 1
            arguments.removeFirst()
            return try pathOrAggregate(beginning: path.names)
        case ("K", .value(.string(let path))):
            position += 1
            arguments.removeFirst()
            return try pathOrAggregate(beginning: PropertyPath(path).names)
        case ("K", _): throw expected("a key path as the argument of %K")
        case (_, .value(let value)):
            position += 1
            arguments.removeFirst()
            return .value(value)
        case ("@", .path(let path)):
            position += 1
            arguments.removeFirst()
            return .path(path)
        case (_, .list), (_, .path): throw expected("another kind of argument for the placeholder")
        }
    }

    private mutating func named(_ name: String) throws(QueryError) -> Expression {
        let word = name.uppercased()
        switch word {
        case "TRUE", "YES": return constant(.bool(true))
        case "FALSE", "NO": return constant(.bool(false))
        case "NIL", "NULL": return constant(.null)
        case "INFINITY": return constant(.double(.infinity))
        case "DATE", "UUID", "DATA", "DECIMAL":
            guard position + 1 < tokens.count, case .text(let text) = tokens[position + 1].kind else { return try pathOrAggregate() }
            position += 1
            let types: [String: ValueType] = ["DATE": .date, "UUID": .uuid, "DATA": .data, "DECIMAL": .decimal]
            guard let type = types[word], let value = ValueText.value(text, as: type) else {
                throw expected("a \(name.lowercased()) in its text form")
            }
            return constant(value)
        case "SUBQUERY" where isSymbol("(", ahead: 1): return try subquery()
        case "TERNARY" where isSymbol("(", ahead: 1): return try ternary()
        default:
            if isSymbol("(", ahead: 1) || isSymbol("[", ahead: 1) && FunctionName.takesOptions(name) { return try function(name) }
            return try pathOrAggregate()
        }
    }

    private mutating func constant(_ value: Value) -> Expression {
        position += 1
        return .value(value)
    }

    private mutating func subquery() throws(QueryError) -> Expression {
        position += 2
        let path = try propertyPath()
        try need(symbol: ",")
        guard case .variable(let name) = current.kind else { throw expected("a variable such as $x") }
        position += 1
        try need(symbol: ",")
        variables.append(name)
        let condition = try disjunction()
        variables.removeLast()
        try need(symbol: ")")
        try need(symbol: ".")
        return try aggregate(path, condition)
    }

    private mutating func ternary() throws(QueryError) -> Expression {
        position += 2
        let condition = try disjunction()
        try need(symbol: ",")
        let a = try expression()
        try need(symbol: ",")
        let b = try expression()
        try need(symbol: ")")
        return .conditional(condition, a, b)
    }

    private mutating func function(_ name: String) throws(QueryError) -> Expression {
        let place = current.position
        position += 1
        let options = try options()
        try need(symbol: "(")
        var arguments: [Expression] = []
        if !take(symbol: ")") {
            repeat { arguments.append(try expression()) } while take(symbol: ",")
            try need(symbol: ")")
        }
        guard let result = try FunctionName.expression(name, options, arguments) else {
            let near = Suggestion.nearest(name, in: FunctionName.all)
            throw QueryError("at character \(place): there is no function \"\(name)\"\(near)")
        }
        return result
    }

    // MARK: Key paths

    private mutating func pathOrAggregate(beginning: [String] = []) throws(QueryError) -> Expression {
        var names = beginning
        if names.isEmpty { names = [try firstName()] }
        while take(symbol: ".") {
            if case .operation = current.kind { return try aggregate(PropertyPath(names), nil) }
            names.append(try nextName())
        }
        if isSymbol("["), isWord("SIZE", ahead: 1), isSymbol("]", ahead: 2) {
            position += 3
            return .related(RelatedAggregate(.count, PropertyPath(names)))
        }
        return .path(Self.path(names))
    }

    /// `SELF.name` is `name`; a variable is the element that the condition is about.
    private static func path(_ names: [String]) -> PropertyPath {
        names.count > 1 && names[0] == "SELF" ? PropertyPath(Array(names.dropFirst())) : PropertyPath(names)
    }

    private mutating func propertyPath() throws(QueryError) -> PropertyPath {
        var names = [try firstName()]
        while isSymbol("."), position + 1 < tokens.count, case .name = tokens[position + 1].kind {
            position += 1
            names.append(try nextName())
        }
        return Self.path(names)
    }

    private mutating func firstName() throws(QueryError) -> String {
        switch current.kind {
        case .name(let name, let isQuoted):
            if let variable = variables.last {
                throw QueryError(
                    "at character \(current.position): in a subquery every key path begins with its variable, such as $\(variable).\(name)")
            }
            position += 1
            return !isQuoted && name.uppercased() == "SELF" ? "SELF" : name
        case .variable(let name):
            guard name == variables.last else {
                throw variables.isEmpty ? expected("a subquery around $\(name)") : expected("$\(variables[variables.count - 1])")
            }
            position += 1
            return "SELF"
        case .placeholder("K"):
            guard case .path(let path)? = arguments.popFirst(), let first = path.names.first else { throw expected("a key path for %K") }
            position += 1
            return path.names.count == 1 ? first : path.description
        case .operation, .placeholder, .number, .text, .symbol, .end: throw expected("a property")
        }
    }

    private mutating func nextName() throws(QueryError) -> String {
        guard case .name(let name, let isQuoted) = current.kind else { throw expected("a name after the dot") }
        position += 1
        return !isQuoted && name.uppercased() == "SELF" ? "SELF" : name
    }

    private static let operations: [String: AggregateFunction] = Dictionary(
        PredicatePrinter.names.map { (String($0.value.dropFirst()), $0.key) }
    ) { first, _ in first }

    private mutating func aggregate(_ path: PropertyPath, _ condition: Predicate?) throws(QueryError) -> Expression {
        guard case .operation(let name) = current.kind, let function = Self.operations[name] else {
            throw expected("one of \(Self.operations.keys.sorted().map { "@" + $0 }.joined(separator: ", "))")
        }
        position += 1
        var names: [String] = []
        while take(symbol: ".") { names.append(try nextName()) }
        return .related(RelatedAggregate(function, path, names.isEmpty ? nil : PropertyPath(names), where: condition))
    }
}

extension Expression {
    /// The expression as a comparison with options sees it.
    public func folded(_ options: TextOptions) -> Expression { options.isEmpty ? self : .function(.folded(options), [self]) }
}

extension Predicate {
    /// The predicate of a text such as `name BEGINSWITH[c] %@ AND ANY friends.age > %d`.
    ///
    /// - Parameter arguments: What stands for the placeholders, in their order.
    /// - Throws: `QueryError` with the position and what was expected there.
    public init(parsing text: String, arguments: [PredicateArgument] = []) throws(QueryError) {
        self = try PredicateParser.parse(text, arguments)
    }
}

extension Expression {
    /// The expression of a text such as `price * 1.19` or `friends.@max.age`.
    ///
    /// - Throws: `QueryError` with the position and what was expected there.
    public init(parsing text: String, arguments: [PredicateArgument] = []) throws(QueryError) {
        self = try PredicateParser.parseExpression(text, arguments)
    }
}
