/// The default of a column, as SQL.
package enum CatalogDefault {
    /// Returns the SQL of a default that is a literal, with or without a sign; nil for another expression, whose value only the database
    /// determines, such as that of a function.
    package static func literal(_ sql: String) -> String? {
        var tokens = SQLTokens.tokens(sql, hasBracketedNames: false)[...]
        while tokens.first?.isSymbol("(") == true, tokens.last?.isSymbol(")") == true { tokens = tokens.dropFirst().dropLast() }
        // PostgreSQL writes the type of a literal behind it.
        if let cast = tokens.firstIndex(where: { $0.isSymbol("::") }) { tokens = tokens[..<cast] }
        var sign = ""
        if tokens.count == 2, tokens.first?.isSymbol("-") == true {
            sign = "-"
            tokens = tokens.dropFirst()
        }
        guard tokens.count == 1, let token = tokens.first else { return nil }
        switch token {
        case .number(let digits): return sign + digits
        case .text(let text) where sign.isEmpty: return "'\(SQLText.doubling("'", in: text))'"
        case .word(let word) where sign.isEmpty && ["TRUE", "FALSE"].contains(word.uppercased()): return word
        case .text, .word, .name, .symbol: return nil
        }
    }
}
