/// A comparison of the text by which an engine describes an index or a trigger with the statement that created it.
package struct CatalogDefinition: Sendable {
    private let tokens: [SQLToken]

    /// Creates a definition from its text.
    package init(_ text: String) { tokens = SQLTokens.tokens(text, hasBracketedNames: false) }

    /// Returns whether one of some statements is this definition, for an engine that stores the text of statements.
    package func isPart(of statements: String) -> Bool {
        let own = tokens.map(Self.folded), all = SQLTokens.tokens(statements, hasBracketedNames: false).map(Self.folded)
        if own.isEmpty || own.count > all.count { return false }
        return (0...(all.count - own.count)).contains { all[$0..<($0 + own.count)].elementsEqual(own) }
    }

    /// Returns whether this is the definition of the same index as a statement, for an engine that writes the text itself: with casts, other
    /// parentheses, names of schemas, and everything that is a default.
    package func isIndex(of statement: String) -> Bool { parts == CatalogDefinition(statement).parts }

    private static func folded(_ token: SQLToken) -> SQLToken {
        switch token {
        case .word(let text), .name(let text): .name(text.lowercased())
        case .text, .number, .symbol: token
        }
    }

    /// The parts that distinguish one index from another: whether it is unique, and its terms and condition in their order.
    private var parts: [String] {
        var result = [tokens.contains { $0.isWord("UNIQUE") } ? "unique" : "plain"], index = afterTable
        // The engine writes the default method, the default order, and lists in another form.
        let left: Set<String> = ["USING", "BTREE", "ASC", "IN", "ANY", "ARRAY", "AND"]
        let symbols: Set<String> = ["(", ")", "[", "]", ",", "="]
        while index < tokens.count {
            let token = tokens[index]
            index += 1
            switch token {
            case .symbol("::"): skipType(&index)
            case .symbol("-"): result.append("-" + (index < tokens.count ? Self.text(tokens[index]) : "")); index += 1
            case .symbol(let symbol) where symbols.contains(symbol): break
            case .word(let word) where left.contains(word.uppercased()) || isPrefix(word, index): break
            case .word, .name, .text, .number, .symbol:
                // A function or a type can be qualified by its schema.
                if index < tokens.count, tokens[index].isSymbol(".") { index += 1 } else { result.append(Self.text(token)) }
            }
        }
        return result
    }

    /// Whether a word is the mark of a text with escapes.
    private func isPrefix(_ word: String, _ next: Int) -> Bool {
        guard word.uppercased() == "E", next < tokens.count, case .text = tokens[next] else { return false }
        return true
    }

    private static func text(_ token: SQLToken) -> String {
        switch token {
        case .word(let text): text.lowercased()
        case .name(let text), .number(let text), .symbol(let text): text
        case .text(let text): text.split(separator: #"\\"#, omittingEmptySubsequences: false).joined(separator: #"\"#)
        }
    }

    /// The position after the table of the index.
    private var afterTable: Int {
        guard var index = tokens.firstIndex(where: { $0.isWord("ON") }) else { return 0 }
        index += 2
        while index + 1 < tokens.count, tokens[index].isSymbol(".") { index += 2 }
        return index
    }

    private func skipType(_ index: inout Int) {
        let more: Set<String> = ["VARYING", "PRECISION", "WITH", "WITHOUT", "TIME", "ZONE"]
        index += 1
        while index < tokens.count, case .word(let word) = tokens[index], more.contains(word.uppercased()) { index += 1 }
    }
}
