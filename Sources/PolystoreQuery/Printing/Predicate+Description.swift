internal import PolystoreSchema

extension Predicate: CustomStringConvertible {
    /// The predicate as text, from which `init(parsing:)` makes an equal one.
    public var description: String {
        switch self {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .compare(let a, let comparison, let b): "\(a) \(comparison.rawValue) \(b)"
        case .isIn(let path, let values): "\(path) IN {\(values.map(Expression.text).joined(separator: ", "))}"
        case .between(let path, let low, let high): "\(path) BETWEEN {\(Expression.text(low)), \(Expression.text(high))}"
        case .text(let path, let match, let needle): "\(path) \(match.rawValue.uppercased()) \(Expression.quoted(needle))"
        case .and(let parts): joined(parts, "AND", empty: "TRUEPREDICATE")
        case .or(let parts): joined(parts, "OR", empty: "FALSEPREDICATE")
        case .not(let part): "NOT (\(part))"
        }
    }

    private func joined(_ parts: [Predicate], _ word: String, empty: String) -> String {
        parts.isEmpty ? empty : parts.map { "(\($0))" }.joined(separator: " \(word) ")
    }
}

extension Expression: CustomStringConvertible {
    /// The path, or the constant as text.
    public var description: String {
        switch self {
        case .path(let path): path.description
        case .value(let value): Self.text(value)
        }
    }

    static func quoted(_ text: String) -> String {
        let escapes: [Unicode.Scalar: String] = ["\\": "\\\\", "\"": "\\\"", "\n": "\\n", "\r": "\\r", "\t": "\\t"]
        // By scalars: a mark that combines with a quote hides it in a Character.
        return "\"" + text.unicodeScalars.map { escapes[$0] ?? String($0) }.joined() + "\""
    }

    static func text(_ value: Value) -> String {
        switch (value, ValueText.json(value)) {
        case (.null, _): "NIL"
        case (.bool(let value), _): value ? "TRUE" : "FALSE"
        case (.double(let number), _) where number.isInfinite: number > 0 ? "INFINITY" : "-1e999"
        case (.string(let text), _): quoted(text)
        case (.date, .string(let text)): "DATE \(quoted(text))"
        case (.uuid, .string(let text)): "UUID \(quoted(text))"
        case (.data, .string(let text)): "DATA \(quoted(text))"
        case (.decimal, .string(let text)): "DECIMAL \(quoted(text))"
        case (_, .number(let text)): text
        default: "NIL"
        }
    }
}
