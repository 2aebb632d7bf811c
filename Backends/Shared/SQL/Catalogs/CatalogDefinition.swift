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

    /// Returns the parentheses of the statement that created a table of SQLite, and what follows them, with another column as the primary
    /// key. The former primary key becomes a unique constraint of required columns, which foreign keys of the table to itself name.
    package static func body(ofTable sql: String, _ table: String, adding column: String, formerKey: [String]) -> String {
        let all = SQLTokens.tokens(sql, hasBracketedNames: true), former = Set(formerKey.map { $0.lowercased() })
        let tokens = naming(formerKey, of: table, in: all)
        var definitions: [[SQLToken]] = [[]], depth = 0, rest: [SQLToken] = []
        for token in tokens.drop(while: { !$0.isSymbol("(") }) {
            if depth == 0, !token.isSymbol("(") { rest.append(token) }
            if token.isSymbol(")") { depth -= 1 }
            if depth == 1, token.isSymbol(",") {
                definitions.append([])
            } else if depth > 0 {
                definitions[definitions.count - 1].append(token)
            }
            if token.isSymbol("(") { depth += 1 }
        }
        let body = [column] + definitions.map { written(unkeyed($0, former)) }
        return "(\(body.joined(separator: ", ")))\(rest.contains { $0.isWord("STRICT") } ? " STRICT" : "")"
    }

    /// Returns the parentheses of the statement that created a table of SQLite, and what follows them, with the columns of another table in
    /// each foreign key that refers to it without columns.
    package static func body(ofTable sql: String, naming columns: [String], of table: String) -> String {
        let tokens = SQLTokens.tokens(sql, hasBracketedNames: true)
        return written(naming(columns, of: table, in: tokens).drop { !$0.isSymbol("(") })
    }

    private static func naming(_ columns: [String], of table: String, in tokens: [SQLToken]) -> [SQLToken] {
        var result: [SQLToken] = []
        for (index, token) in tokens.enumerated() {
            result.append(token)
            let isNamed = index + 1 < tokens.count && tokens[index + 1].isSymbol("(")
            guard index > 0, tokens[index - 1].isWord("REFERENCES"), name(token)?.lowercased() == table.lowercased(), !isNamed else {
                continue
            }
            let names = columns.map { [SQLToken.name($0)] }.joined(separator: [.symbol(",")])
            result += [.symbol("(")] + names + [.symbol(")")]
        }
        return result
    }

    /// Returns the definition of a column or the constraint of a table, unique in place of a primary key. A column of the former key is
    /// required.
    private static func unkeyed(_ definition: [SQLToken], _ former: Set<String>) -> [SQLToken] {
        let constraints = ["CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN"]
        let isColumn = definition.first.map { first in !constraints.contains(where: first.isWord) } ?? false
        var result: [SQLToken] = [], index = 0
        func isPair(_ first: String, _ second: String, at index: Int) -> Bool {
            index + 1 < definition.count && definition[index].isWord(first) && definition[index + 1].isWord(second)
        }
        while index < definition.count {
            if isPair("PRIMARY", "KEY", at: index) {
                result.append(.word("UNIQUE"))
                index += 2
                while isColumn, index < definition.count, ["ASC", "DESC", "AUTOINCREMENT"].contains(where: definition[index].isWord) {
                    index += 1
                }
            } else {
                result.append(definition[index])
                index += 1
            }
        }
        let isRequired = definition.indices.contains { isPair("NOT", "NULL", at: $0) }
        if isColumn, !isRequired, let name = definition.first.flatMap(Self.name), former.contains(name.lowercased()) {
            result += [.word("NOT"), .word("NULL")]
        }
        return result
    }

    /// Returns the name that a token is. SQLite also takes a text for a name.
    private static func name(_ token: SQLToken) -> String? { if case .text(let text) = token { text } else { token.identifier } }

    /// Returns the text of tokens, with spaces only where they separate: parts of a number and of a blob are tokens of their own.
    private static func written(_ tokens: some Sequence<SQLToken>) -> String {
        var text = "", last: SQLToken?
        for token in tokens {
            switch (last, token) {
            case (.word(let prefix)?, .text) where prefix.uppercased() == "X": break
            case (.symbol(",")?, _): text += " "
            case (.symbol(let one)?, .symbol(let other)) where one == other && one == "-": text += " "
            case (.symbol(")")?, .word), (.symbol(")")?, .name): text += " "
            case (nil, _), (.symbol?, _), (_, .symbol): break
            case (.word?, _), (.name?, _), (.text?, _), (.number?, _): text += " "
            }
            switch token {
            case .word(let word), .number(let word), .symbol(let word): text += word
            case .name(let name): text += SQLText.quoted(name)
            case .text(let content): text += "'\(SQLText.doubling("'", in: content))'"
            }
            last = token
        }
        return text
    }

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
