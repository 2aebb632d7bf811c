internal import PolystoreStorage

/// A check for computations with decimals in a program's statement, for an engine that stores decimals as bytes. The bytes sort and compare
/// with each other like the numbers, but are not numbers to the engine, which adds them as zeros.
///
/// The accepted uses are few: columns of the result, orders, groups, counts, `min` and `max`, and comparisons with interpolated decimals
/// and among decimals.
package struct RawDecimals {
    private static let calculating: Set<String> = ["+", "-", "*", "/", "%", "||", "&", "|", "~", "->", "->>", "<<", ">>"]
    private static let comparing: Set<String> = ["=", "==", "<>", "!=", "<", "<=", ">", ">="]
    /// The words that can follow a column.
    private static let following: Set<String> = [
        "FROM", "ASC", "DESC", "NULLS", "ORDER", "GROUP", "LIMIT", "WHERE", "HAVING", "UNION", "EXCEPT", "INTERSECT", "COLLATE", "AS",
        "OFFSET",
        "RETURNING",
    ]
    /// The words before which a column is a value of the result or a sort term.
    private static let leading: Set<String> = ["SELECT", "DISTINCT", "ALL", "BY", "RETURNING", "USING", "SET"]

    /// The words before a parenthesis that begins a value and not a list of columns or arguments.
    private static let conditions: Set<String> = ["WHERE", "ON", "AND", "OR", "NOT", "BY", "SELECT", "SET"]

    private let tokens: [SQLToken]
    private let bindings: [SQLBinding]
    /// The names of decimal columns, and the aliases that the statement gives to them.
    private var names: Set<String>

    /// Whether all uses of decimals in a statement are exact.
    ///
    /// - Parameter columns: The names of the decimal columns that the statement reads.
    package static func areExact(in raw: RawStatement, _ columns: Set<String>) -> Bool {
        if columns.isEmpty { return true }
        var decimals = RawDecimals(
            tokens: SQLTokens.tokens(raw.sql, hasBracketedNames: true), bindings: raw.bindings, names: Set(columns.map { $0.lowercased() }))
        return decimals.areExact()
    }

    private init(tokens: [SQLToken], bindings: [SQLBinding], names: Set<String>) {
        self.tokens = tokens
        self.bindings = bindings
        self.names = names
    }

    /// Repeats the check until it finds no new aliases.
    private mutating func areExact() -> Bool {
        while true {
            let known = names.count
            for index in tokens.indices where isDecimal(index) {
                if !isExact(nameStart(index), index) { return false }
            }
            if names.count == known { return true }
        }
    }

    private func token(_ index: Int) -> SQLToken? { tokens.indices.contains(index) ? tokens[index] : nil }

    private func name(_ index: Int) -> String? {
        switch token(index) {
        case .word(let text), .name(let text): text.lowercased()
        case .text, .number, .symbol, nil: nil
        }
    }

    private func word(_ index: Int) -> String? { if case .word(let text)? = token(index) { text.uppercased() } else { nil } }

    private func symbol(_ index: Int) -> String? { if case .symbol(let text)? = token(index) { text } else { nil } }

    /// Whether a token is the name of a decimal, and not the table of a name that follows.
    private func isDecimal(_ index: Int) -> Bool { name(index).map(names.contains) == true && symbol(index + 1) != "." }

    /// Returns the position at which a qualified name begins.
    private func nameStart(_ index: Int) -> Int {
        var start = index
        while symbol(start - 1) == ".", name(start - 2) != nil { start -= 2 }
        return start
    }

    /// Whether the use of the value between two positions is exact.
    private mutating func isExact(_ start: Int, _ end: Int) -> Bool {
        // The value is an alias.
        if word(start - 1) == "AS" || isDecimal(start - 1) { return true }
        let before = symbol(start - 1), after = symbol(end + 1)
        if before == "(", word(start - 2) == "CAST" { return false }
        if isInRowValue(start, end) { return false }
        if let before, Self.calculating.contains(before) { return false }
        if let after, Self.calculating.contains(after) { return false }
        if let after, Self.comparing.contains(after) { return isDecimalValue(from: end + 2) }
        if let before, Self.comparing.contains(before) { return isDecimalValue(endingAt: start - 2) }
        if let isExact = isExactCondition(end + 1) { return isExact }
        if before == "(", after == ")" || after == ",", let call = function(start - 1) { return isExactCall(call, start - 1, after == ")") }
        if ["DISTINCT", "ALL"].contains(word(start - 1) ?? ""), symbol(start - 2) == "(", let call = function(start - 2) {
            return isExactCall(call, start - 2, after == ")")
        }
        if before == ",", let open = opening(before: start - 1), function(open) != nil { return false }
        if before == "(", after == ")" { return isExact(start - 1, end + 1) }
        // The value is part of a condition or of a CASE.
        if let word = word(start - 1), !Self.leading.contains(word) { return false }
        return name(of: end) && isInAnswer(start)
    }

    /// Whether a value is one of several that are compared together, as in `(a, b) > (1, 2)`. It is not where it is a column of a list or of
    /// a subquery.
    private func isInRowValue(_ start: Int, _ end: Int) -> Bool {
        let before = symbol(start - 1), after = symbol(end + 1)
        guard before == "(" && after == "," || before == "," && (after == "," || after == ")"), let open = opening(before: start - 1) else {
            return false
        }
        if ["SELECT", "WITH", "VALUES"].contains(word(open + 1) ?? "") { return false }
        if word(open - 1) == "IN" { return !isDecimalValue(endingAt: word(open - 2) == "NOT" ? open - 3 : open - 2) }
        return open == 0 || symbol(open - 1) != nil || Self.conditions.contains(word(open - 1) ?? "")
    }

    /// Whether the test that follows a value is exact; nil where none follows.
    private func isExactCondition(_ index: Int) -> Bool? {
        var index = index, isNegated = false
        if word(index) == "NOT" {
            isNegated = true
            index += 1
        }
        switch word(index) {
        case "IS":
            let value = word(index + 1) == "NOT" ? index + 2 : index + 1
            return word(value) == "NULL" || isDecimalValue(from: value)
        case "ISNULL", "NOTNULL": return true
        case "NULL" where isNegated: return true
        case "BETWEEN":
            guard isDecimalValue(from: index + 1), let and = tokens[index...].firstIndex(where: { $0.isWord("AND") }) else { return false }
            return isDecimalValue(from: and + 1)
        case "IN":
            guard symbol(index + 1) == "(" else { return false }
            var place = index + 2
            while isDecimalValue(from: place) {
                place += 2
                if symbol(place) == ")" { return true }
                place += 1
            }
            return false
        case "LIKE", "GLOB", "REGEXP", "MATCH": return false
        default: return isNegated ? false : nil
        }
    }

    /// Whether a decimal begins at a position: an interpolated one, a column or NULL, without a computation.
    private func isDecimalValue(from index: Int) -> Bool {
        var end = index
        if symbol(index) == "?" {
            guard isDecimalBinding(index + 1) else { return false }
            end += 1
        } else if word(index) != "NULL" {
            while symbol(end + 1) == ".", name(end + 2) != nil { end += 2 }
            guard isDecimal(end), symbol(end + 1) != "(" else { return false }
        }
        return symbol(end + 1).map(Self.calculating.contains) != true
    }

    private func isDecimalValue(endingAt index: Int) -> Bool {
        if symbol(index - 1) == "?" { return isDecimalBinding(index) && symbol(index - 2).map(Self.calculating.contains) != true }
        guard isDecimal(index) else { return false }
        return symbol(nameStart(index) - 1).map(Self.calculating.contains) != true
    }

    private func isDecimalBinding(_ index: Int) -> Bool {
        guard case .number(let text)? = token(index), let number = Int(text), bindings.indices.contains(number - 1) else { return false }
        switch bindings[number - 1] {
        case .value(_, let type), .list(_, let type): return type == .decimal
        }
    }

    /// Returns the position of the parenthesis that encloses a position.
    private func opening(before index: Int) -> Int? {
        var depth = 0
        for index in stride(from: index, through: 0, by: -1) {
            if symbol(index) == ")" { depth += 1 }
            if symbol(index) == "(" {
                if depth == 0 { return index }
                depth -= 1
            }
        }
        return nil
    }

    /// Returns the function whose arguments a parenthesis begins; nil for lists of columns and values.
    private func function(_ open: Int) -> String? {
        guard let name = word(open - 1),
            !["IN", "VALUES", "USING", "AND", "OR", "NOT", "WHERE", "ON", "SELECT", "BY", "FROM"].contains(name),
            word(open - 2) != "INTO", symbol(open - 2) != "."
        else { return nil }
        return name
    }

    private mutating func isExactCall(_ name: String, _ open: Int, _ isAlone: Bool) -> Bool {
        switch name {
        case "COUNT", "TYPEOF": true
        // The byte order equals the order of the numbers, so the least and the greatest bytes are those of the least and the greatest
        // number.
        case "MIN", "MAX": isAlone ? isExact(open - 1, open + argumentLength(open) + 1) : false
        default: false
        }
    }

    /// Returns the number of tokens between a parenthesis and its end.
    private func argumentLength(_ open: Int) -> Int { (tokens[open...].firstIndex { $0.isSymbol(")") } ?? tokens.count) - open - 1 }

    /// Records the alias of a value. Returns false if something else follows the value.
    private mutating func name(of end: Int) -> Bool {
        if word(end + 1) == "AS", let alias = name(end + 2) {
            names.insert(alias)
            return true
        }
        if let word = word(end + 1), Self.following.contains(word) { return true }
        if let alias = name(end + 1) { names.insert(alias) }
        return true
    }

    /// Whether the uses of a value refer to it by name: not in a scalar subquery, nor where columns are named by their position.
    private func isInAnswer(_ start: Int) -> Bool {
        guard let open = opening(before: start - 1), word(open + 1) == "SELECT" else { return true }
        if let from = tokens[open..<start].lastIndex(where: { $0.isWord("FROM") }), from > open { return true }
        let isCompound = tokens.contains { $0.isWord("UNION") || $0.isWord("EXCEPT") || $0.isWord("INTERSECT") }
        if isCompound || symbol(open - 1) == ")" || (word(open - 1) == "AS" && symbol(open - 2) == ")") { return false }
        return ["FROM", "JOIN", "AS"].contains(word(open - 1) ?? "")
    }
}
