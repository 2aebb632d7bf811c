internal import PolystoreStorage

/// A function that removes the casts from a condition, because PostgreSQL writes the type of every constant.
struct CatalogCasts {
    private static let texts: Set<String> = ["TEXT", "BPCHAR", "VARCHAR", "CHARACTER VARYING"]
    private static let integers: Set<String> = ["SMALLINT", "INTEGER", "BIGINT", "INT2", "INT4", "INT8"]
    private static let exact: Set<String> = ["NUMERIC", "DECIMAL", "DOUBLE PRECISION", "FLOAT8"]

    /// The type after a `::`.
    private struct Target {
        let name: String
        var hasLength = false
        var isArray = false
    }

    private let types: [String: ValueType]
    private var result: [SQLToken] = []

    /// Returns the condition without its casts.
    ///
    /// - Parameter types: The types of attributes, by the names of their columns in lower case.
    /// - Returns: Nil where a cast can change a value, because the condition without the cast would have another meaning.
    static func removed(_ tokens: [SQLToken], _ types: [String: ValueType]) -> [SQLToken]? {
        var casts = CatalogCasts(types: types), index = 0
        while index < tokens.count {
            if tokens[index].isSymbol("::") {
                guard let target = target(tokens, &index), casts.keepsValue(target) else { return nil }
            } else {
                casts.result.append(tokens[index])
                index += 1
            }
        }
        return casts.result
    }

    private init(types: [String: ValueType]) { self.types = types }

    private static func target(_ tokens: [SQLToken], _ index: inout Int) -> Target? {
        let follows: Set<String> = ["VARYING", "PRECISION", "WITHOUT", "WITH", "TIME", "ZONE"]
        guard index + 1 < tokens.count, case .word(let first) = tokens[index + 1] else { return nil }
        var words = [first.uppercased()]
        index += 2
        while index < tokens.count, case .word(let word) = tokens[index], follows.contains(word.uppercased()) {
            words.append(word.uppercased())
            index += 1
        }
        var target = Target(name: words.joined(separator: " "))
        if index + 1 < tokens.count, tokens[index].isSymbol("("), case .number = tokens[index + 1] {
            target.hasLength = true
            while index < tokens.count, !tokens[index].isSymbol(")") { index += 1 }
            index += 1
        }
        if index + 1 < tokens.count, tokens[index].isSymbol("["), tokens[index + 1].isSymbol("]") {
            target.isArray = true
            index += 2
        }
        return target
    }

    /// Whether the cast keeps the value of its operand.
    private func keepsValue(_ target: Target) -> Bool {
        if target.hasLength { return false }
        let operand = operand()
        guard let first = operand.first else { return false }
        // The elements of a list have casts of their own.
        if first.isWord("ARRAY") { return target.isArray && Self.texts.contains(target.name) }
        if target.isArray { return false }
        let isSigned = operand.count == 2 && (first.isSymbol("-") || first.isSymbol("+"))
        guard let last = operand.last, operand.count == 1 || isSigned else { return false }
        switch last {
        case .text(let text): return Self.texts.contains(target.name) && !isSigned || isNumber(text, target.name)
        case .number(let text): return isNumber(text, target.name)
        case .word(let name), .name(let name): return !isSigned && isColumn(name.lowercased(), target.name)
        case .symbol: return false
        }
    }

    /// Returns the value that ends here, without its parentheses.
    private func operand() -> [SQLToken] {
        var start = result.count - 1, depth = 0
        while start >= 0 {
            if result[start].isSymbol(")") || result[start].isSymbol("]") { depth += 1 }
            if result[start].isSymbol("(") || result[start].isSymbol("[") { depth -= 1 }
            if depth == 0 { break }
            start -= 1
        }
        if start < 0 { return [] }
        if start > 0, result[start].isSymbol("["), result[start - 1].isWord("ARRAY") { start -= 1 }
        // The word before a parenthesis may be a function.
        if start > 0, result[start].isSymbol("("), case .word(let word) = result[start - 1], !["AND", "ANY"].contains(word.uppercased()) {
            return []
        }
        return result[start...].filter { !$0.isSymbol("(") && !$0.isSymbol(")") }
    }

    private func isNumber(_ text: String, _ target: String) -> Bool {
        if Self.integers.contains(target) { return Int64(text) != nil }
        return Self.exact.contains(target) && ValueText.value(text, as: .decimal) != nil
    }

    private func isColumn(_ name: String, _ target: String) -> Bool {
        guard let type = types[name] else { return false }
        if type.isText { return Self.texts.contains(target) }
        if type.isInteger { return target == "BIGINT" || target == "NUMERIC" }
        return type == .float && target == "DOUBLE PRECISION"
    }
}
