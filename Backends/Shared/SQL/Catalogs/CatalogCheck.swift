internal import PolystoreFoundation
internal import PolystoreStorage

/// A check condition of a table, as SQL.
package struct CatalogCheck: Sendable {
    private let tokens: [SQLToken]

    private init(tokens: [SQLToken]) { self.tokens = tokens }

    /// Creates a condition from the text that PostgreSQL writes.
    package init(_ text: String) { tokens = SQLTokens.tokens(text, hasBracketedNames: false) }

    /// Returns the check conditions in the statement that created a table of SQLite.
    package static func checks(ofTable sql: String) -> [CatalogCheck] {
        let tokens = SQLTokens.tokens(sql, hasBracketedNames: true)
        var result: [CatalogCheck] = []
        for (index, token) in tokens.enumerated() where token.isWord("CHECK") && index + 1 < tokens.count {
            guard tokens[index + 1].isSymbol("(") else { continue }
            var depth = 0
            for end in (index + 1)..<tokens.count {
                if tokens[end].isSymbol("(") { depth += 1 }
                if tokens[end].isSymbol(")") { depth -= 1 }
                if depth > 0 { continue }
                result.append(CatalogCheck(tokens: Array(tokens[(index + 2)..<end])))
                break
            }
        }
        return result
    }

    /// Returns the columns of the table that a statement creates whose texts SQLite does not compare by bytes, in lower case.
    package static func foldedColumns(ofTable sql: String) -> Set<String> {
        let tokens = SQLTokens.tokens(sql, hasBracketedNames: true)
        var result: Set<String> = [], column: String?, depth = 0
        for (index, token) in tokens.enumerated() {
            if token.isSymbol(")") { depth -= 1 }
            if depth == 1, token.isWord("COLLATE"), let name = name(tokens, at: index + 1), let column {
                if name.uppercased() != "BINARY" { result.insert(column) }
            }
            if token.isSymbol("(") { depth += 1 }
            if depth == 1, token.isSymbol("(") || token.isSymbol(",") { column = name(tokens, at: index + 1)?.lowercased() }
        }
        return result
    }

    /// Returns the name at a position. SQLite also takes a text for a name.
    private static func name(_ tokens: [SQLToken], at index: Int) -> String? {
        guard index < tokens.count else { return nil }
        if case .text(let text) = tokens[index] { return text }
        return tokens[index].identifier
    }

    /// Adds the equivalent validation rules to attributes.
    ///
    /// - Parameter folded: The attributes whose texts the database does not compare by bytes.
    /// - Returns: False where no rule expresses a part of the condition. The other parts are applied nevertheless.
    func apply(to attributes: inout [Attribute], columns: [String: Int], folded: Set<Int>) -> Bool {
        let types = columns.mapValues { attributes[$0].type }
        guard let plain = CatalogCasts.removed(tokens, types), let parts = Self.parts(of: plain) else { return false }
        var isComplete = true
        for part in parts where !CatalogRule(part, columns, folded).apply(to: &attributes) { isComplete = false }
        return isComplete
    }

    /// Returns the parts that AND joins, without parentheses; nil where other operators join parts.
    private static func parts(of tokens: [SQLToken]) -> [[SQLToken]]? {
        if tokens.contains(where: { $0.isWord("OR") || $0.isWord("NOT") || $0.isWord("CASE") }) {
            // `IS NOT NULL` contains a NOT that negates nothing.
            let plain = tokens.filter { !$0.isSymbol("(") && !$0.isSymbol(")") }
            return plain.count == 4 && plain[1].isWord("IS") && plain[2].isWord("NOT") && plain[3].isWord("NULL") ? [plain] : nil
        }
        var result: [[SQLToken]] = [[]], isBetween = false
        for token in tokens where !["(", ")", "[", "]"].contains(where: token.isSymbol) {
            if token.isWord("BETWEEN") { isBetween = true }
            if token.isWord("AND"), !isBetween {
                result.append([])
                continue
            }
            if token.isWord("AND") { isBetween = false }
            result[result.count - 1].append(token)
        }
        return result
    }
}
