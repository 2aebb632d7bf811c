/// The condition of a partial index: the part of the predicate grammar that every engine supports in an index.
///
/// The condition consists of comparisons of the entity's own attributes with constants (`isActive == true`, `age >= 18`, `state !=
/// 'closed'`, `deletedAt == nil`), joined by `AND` and `OR`, with parentheses. Booleans are compared with `==` and `!=`, integers and
/// strings with all six operators, all other types and to-one relationships only with nil.
struct IndexCondition {
    private static let longest = 2_000
    private static let deepest = 50
    private static let signs = ["==", "!=", "<>", "<=", ">=", "=<", "=>", "&&", "||", "=", "<", ">", "(", ")"]
    private static let words: Set<String> = Set(ValueType.allCases.compactMap(\.keyword)).union([
        "AND", "OR", "NOT", "IN", "BETWEEN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "SEARCH", "ANY", "SOME", "ALL",
        "NONE", "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "FALSE", "YES", "NO", "NIL", "NULL", "SELF", "SUBQUERY", "TERNARY", "INFINITY",
    ])

    private enum Token: Equatable {
        case name(String)
        case word(String)
        case number(String)
        case text(String)
        case sign(String)
        case end
    }

    private let path: String
    private let attributes: [String: Attribute]
    private let references: Set<String>
    private let scalars: [Unicode.Scalar]
    private var offset = 0
    /// The position of the first character of the token.
    private var start = 0
    private var token = Token.end
    private var depth = 0

    /// Checks the text of a condition.
    ///
    /// - Throws: `SchemaError` with the location, which names the expression that an index condition cannot contain.
    static func check(
        _ text: String, _ path: String, attributes: [Attribute], references: [String]
    ) throws(SchemaError) {
        var condition = IndexCondition(path, attributes, references, text)
        if text.utf8.count > longest { throw condition.error("the condition of an index can have at most \(longest) bytes") }
        try condition.advance()
        try condition.disjunction()
        if condition.token != .end { throw condition.expected("AND, OR or the end") }
    }

    /// Returns the text of a valid condition with other names of properties.
    static func renaming(_ names: [String: String], in text: String) -> String {
        var condition = IndexCondition("", [], [], text), result = String.UnicodeScalarView(), copied = 0
        while true {
            do throws(SchemaError) { try condition.advance() } catch { return text }
            if condition.token == .end { break }
            guard case .name(let name) = condition.token, let new = names[name] else { continue }
            result.append(contentsOf: condition.scalars[copied..<condition.start])
            result.append(contentsOf: ((words.contains(new.uppercased()) ? "#" : "") + new).unicodeScalars)
            copied = condition.offset
        }
        result.append(contentsOf: condition.scalars[copied...])
        return String(result)
    }

    private init(_ path: String, _ attributes: [Attribute], _ references: [String], _ text: String) {
        self.path = path
        self.attributes = Dictionary(attributes.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.references = Set(references)
        scalars = Array(text.unicodeScalars)
    }

    private func error(_ message: String) -> SchemaError { SchemaError(path, "index condition: " + message) }

    private func expected(_ what: String) -> SchemaError { error("\(what) is expected before character \(offset + 1)") }

    // MARK: The grammar

    private mutating func disjunction() throws(SchemaError) {
        try conjunction()
        while token == .word("OR") || token == .sign("||") {
            try advance()
            try conjunction()
        }
    }

    private mutating func conjunction() throws(SchemaError) {
        try term()
        while token == .word("AND") || token == .sign("&&") {
            try advance()
            try term()
        }
    }

    private mutating func term() throws(SchemaError) {
        guard token == .sign("(") else { return try comparison() }
        depth += 1
        if depth > Self.deepest { throw error("at most \(Self.deepest) levels of parentheses are allowed") }
        try advance()
        try disjunction()
        if token != .sign(")") { throw expected("\")\"") }
        try advance()
        depth -= 1
    }

    private mutating func comparison() throws(SchemaError) {
        guard case .name(let name) = token else { throw expected("the name of an attribute") }
        guard attributes[name] != nil || references.contains(name) else {
            let known = Array(attributes.keys) + references
            throw error("\"\(name.excerpt())\" is not an attribute of the entity\(Suggestion.nearest(name, in: known.sorted()))")
        }
        try advance()
        guard case .sign(let sign) = token, !["(", ")", "&&", "||"].contains(sign) else {
            throw expected("one of the supported operators ==, !=, <, <=, > and >=")
        }
        try advance()
        try constant(name, isEquality: ["==", "=", "!=", "<>"].contains(sign))
        try advance()
    }

    private func constant(_ name: String, isEquality: Bool) throws(SchemaError) {
        let type = attributes[name]?.type
        let value: Value
        switch token {
        case .word("NIL"), .word("NULL"):
            if !isEquality { throw error("nil is not ordered; compare \(name) with == or !=") }
            return
        case .word("TRUE"), .word("YES"): value = .bool(true)
        case .word("FALSE"), .word("NO"): value = .bool(false)
        case .number(let text):
            guard let number = Int64(text) else { throw error("a number must be a 64-bit integer") }
            value = .int(number)
        case .text(let text): value = .string(text)
        case .name, .word, .sign, .end: throw expected("a bool, an integer, a string or nil")
        }
        guard let attribute = attributes[name], attribute.coder == nil, let type, Self.isLiteral(value, type) else {
            throw error(
                "\(name) cannot be compared with this constant; a condition compares bools, integers and strings with constants of their "
                    + "type"
            )
        }
        if type == .bool, !isEquality { throw error("\(name) is a bool; compare it with == or !=") }
        do throws(ValueError) { _ = try attribute.normalise(value) } catch { throw self.error("\(name): \(error.message)") }
    }

    private static func isLiteral(_ value: Value, _ type: ValueType) -> Bool {
        [.bool, .int64, .string].contains(value.type) && value.type == type.base && type != .url
    }

    // MARK: Tokens

    private mutating func advance() throws(SchemaError) {
        while offset < scalars.count, scalars[offset].properties.isWhitespace { offset += 1 }
        start = offset
        guard offset < scalars.count else {
            token = .end
            return
        }
        let scalar = scalars[offset]
        switch scalar {
        case "\"", "'": token = .text(try text(scalar))
        case "-", "0"..."9": token = number()
        case "#":
            offset += 1
            let name = name()
            if name.isEmpty { throw expected("a name") }
            token = .name(name)
        case _ where Self.isNamePart(scalar):
            let name = name(), word = name.uppercased()
            token = name.utf8.count == word.utf8.count && Self.words.contains(word) ? .word(word) : .name(name)
        default:
            guard let sign = Self.signs.first(where: { scalars[offset...].starts(with: $0.unicodeScalars) }) else {
                throw error("\"\(scalar)\" at character \(offset + 1) is not allowed")
            }
            offset += sign.unicodeScalars.count
            token = .sign(sign)
        }
    }

    private static func isNamePart(_ scalar: Unicode.Scalar) -> Bool { scalar == "_" || scalar.properties.isXIDContinue }

    private mutating func take(_ accepts: (Unicode.Scalar) -> Bool) -> String {
        var result = String.UnicodeScalarView()
        while offset < scalars.count, accepts(scalars[offset]) {
            result.append(scalars[offset])
            offset += 1
        }
        return String(result)
    }

    private mutating func name() -> String { take(Self.isNamePart) }

    /// Reads the characters of a number, including those that are part of a malformed number, which is then refused as a whole.
    private mutating func number() -> Token {
        var text = scalars[offset] == "-" ? "-" : ""
        if !text.isEmpty { offset += 1 }
        text += take { Self.isNamePart($0) || $0 == "." }
        return .number(text)
    }

    private mutating func text(_ quote: Unicode.Scalar) throws(SchemaError) -> String {
        var result = String.UnicodeScalarView()
        offset += 1
        while offset < scalars.count {
            let scalar = scalars[offset]
            offset += 1
            if scalar == quote { return String(result) }
            guard scalar == "\\" else {
                result.append(scalar)
                continue
            }
            guard offset < scalars.count else { break }
            let escapes: [Unicode.Scalar: Unicode.Scalar] = ["n": "\n", "t": "\t", "r": "\r"]
            result.append(escapes[scalars[offset]] ?? scalars[offset])
            offset += 1
        }
        throw error("a string is not terminated")
    }
}
