internal import PolystoreSchema

/// Prints predicates in the grammar that the parser reads.
struct PredicatePrinter {
    /// The variables of the enclosing conditions on related objects, innermost last; nil for one whose objects need none.
    private var scopes: [String?] = []
    /// The common prefix of the names of these variables.
    private var stem = "$x"
    /// Whether `?` is printed for each value.
    private let hidesValues: Bool

    /// - Parameter names: The names of the variables that represent constants, which no other variable may have.
    init(avoiding names: Set<String>, hidesValues: Bool = false) {
        self.hidesValues = hidesValues
        while names.contains(where: { ("$" + $0).hasPrefix(stem) }) { stem += "x" }
    }

    private func entering(isNamed: Bool) -> PredicatePrinter {
        var inner = self
        inner.scopes.append(isNamed ? "\(stem)\(scopes.count + 1)" : nil)
        return inner
    }

    func text(_ predicate: QueryPredicate) -> String {
        switch predicate.node {
        case .constant(let value): return value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .compare(let a, let comparison, let b): return "\(text(a)) \(comparison.rawValue) \(text(b))"
        case .isIn(let expression, let values): return "\(text(expression)) IN {\(list(values))}"
        case .between(let expression, let low, let high): return "\(text(expression)) BETWEEN {\(text(low)), \(text(high))}"
        case .text(let expression, let match, let needle):
            return "\(text(expression)) \(match.rawValue.uppercased()) \(hidesValues ? "?" : Self.quoted(needle))"
        case .open(let expression, .isIn, let name): return "\(text(expression)) IN $\(name)"
        case .open(let expression, .between, let name): return "\(text(expression)) BETWEEN $\(name)"
        case .open(let expression, .text(let match), let name):
            return "\(text(expression)) \(match.rawValue.uppercased()) $\(name)"
        case .related(let quantifier, let path, let inner):
            // The paths of the objects have a variable only if the condition also reads an outer object.
            let printer = entering(isNamed: inner.looksOutside), variable = printer.scopes.last?.map { $0 + " " } ?? ""
            return "\(quantifier.rawValue) \(name(path)) SATISFIES \(variable)(\(printer.text(inner)))"
        case .quantified(let quantifier, let inner): return "\(quantifier.rawValue) \(quantified(inner))"
        case .isEntity(let entity): return "\(name(.object)) ISA \(Self.quoted(entity))"
        case .and(let parts): return joined(parts, "AND", empty: "TRUEPREDICATE")
        case .or(let parts): return joined(parts, "OR", empty: "FALSEPREDICATE")
        case .not(let part): return "NOT (\(text(part)))"
        }
    }

    private func list(_ values: [Value]) -> String { hidesValues ? "?" : values.map(Self.text).joined(separator: ", ") }

    private func quantified(_ inner: QueryPredicate) -> String {
        switch inner.node {
        case .compare, .isIn, .between, .text, .open: text(inner)
        case .constant, .related, .quantified, .isEntity, .and, .or, .not: "(\(text(inner)))"
        }
    }

    private func joined(_ parts: [QueryPredicate], _ word: String, empty: String) -> String {
        parts.isEmpty ? empty : parts.map { "(\(text($0)))" }.joined(separator: " \(word) ")
    }

    func text(_ expression: QueryExpression) -> String {
        switch expression.node {
        case .path(let path): return name(path)
        case .outer(let level, let path): return name(path, level)
        case .variable(let name): return "$\(name)"
        case .value(let value): return hidesValues && !value.isNull ? "?" : Self.text(value)
        case .function(let function, let arguments): return text(function, arguments.map(text))
        case .conditional(let condition, let a, let b): return "TERNARY(\(text(condition)), \(text(a)), \(text(b)))"
        case .related(let aggregate): return text(aggregate)
        case .aggregate(let aggregate): return "@\(aggregate.function.descriptor.name)(\(aggregate.argument.map(text) ?? ""))"
        }
    }

    private func text(_ function: Function, _ arguments: [String]) -> String {
        let descriptor = function.descriptor
        if let sign = descriptor.sign, arguments.count == 2 { return "(\(arguments[0]) \(sign) \(arguments[1]))" }
        var arguments = arguments
        if let zone = descriptor.zone { arguments.append(Self.quoted(zone)) }
        return "\(function.name)(\(arguments.joined(separator: ", ")))"
    }

    private func text(_ aggregate: RelatedAggregate) -> String {
        var result = name(aggregate.relationship)
        if let predicate = aggregate.predicate {
            let inner = entering(isNamed: true)
            result = "SUBQUERY(\(result), \(inner.scopes.last?.map { $0 } ?? stem), \(inner.text(predicate)))"
        }
        result += ".@\(aggregate.function.descriptor.name)"
        return aggregate.property.map { "\(result).\(plain($0))" } ?? result
    }

    /// Returns the text of a key path of the object that the condition is about, or of the outer object at a level.
    private func name(_ path: PropertyPath, _ level: Int = 0) -> String {
        // Outside all conditions there is no object; the parser reports this text.
        if !(0...scopes.count).contains(level) { return "$outside.\(plain(path))" }
        guard level < scopes.count, let variable = scopes[scopes.count - 1 - level] else { return plain(path) }
        return path == .object ? variable : "\(variable).\(plain(path))"
    }

    /// Returns the text of a key path without a variable. Names that are keywords have a `#` before them.
    private func plain(_ path: PropertyPath) -> String {
        if path == .object { return "SELF" }
        return path.names.map { Self.words.contains($0.uppercased()) && $0 != "SELF" ? "#" + $0 : $0 }.joined(separator: ".")
    }

    private static let words = Set(ValueType.allCases.compactMap(\.keyword)).union([
        "AND", "OR", "NOT", "IN", "BETWEEN", "BEGINSWITH", "ENDSWITH", "CONTAINS", "LIKE", "MATCHES", "SEARCH", "ANY", "SOME", "ALL",
        "NONE",
        "TRUEPREDICATE", "FALSEPREDICATE", "TRUE", "FALSE", "YES", "NO", "NIL", "NULL", "SELF", "SUBQUERY", "TERNARY", "ISA", "SATISFIES",
        "INFINITY", "SIZE",
    ])

    static func quoted(_ text: String) -> String {
        let escapes: [Unicode.Scalar: String] = ["\\": "\\\\", "\"": "\\\"", "\n": "\\n", "\r": "\\r", "\t": "\\t"]
        // By scalars: a mark that combines with a quote hides the quote in a Character.
        return "\"" + text.unicodeScalars.map { escapes[$0] ?? String($0) }.joined() + "\""
    }

    static func text(_ value: Value) -> String {
        if case .double(let number) = value, number.isInfinite { return number > 0 ? "INFINITY" : "-INFINITY" }
        return switch ValueText.json(value) {
        case .null, .array, .object: "NIL"
        case .bool(let value): value ? "TRUE" : "FALSE"
        case .number(let text): text
        case .string(let text): (value.type?.keyword.map { $0 + " " } ?? "") + quoted(text)
        }
    }
}
