/// A tokenizer for SQL that covers enough of its grammar to find the conditions in the text of a table definition.
struct SQLTokens {
    private static let pairs: Set<String> = ["::", "<=", ">=", "<>", "!=", "==", "||"]

    private let scalars: [Unicode.Scalar]
    private let hasBracketedNames: Bool
    private var offset = 0

    private init(_ text: String, hasBracketedNames: Bool) {
        scalars = Array(text.unicodeScalars)
        self.hasBracketedNames = hasBracketedNames
    }

    /// Returns the tokens of a text, without comments and white space.
    ///
    /// - Parameter hasBracketedNames: Whether brackets quote a name, as in SQLite. In PostgreSQL they belong to arrays.
    static func tokens(_ text: String, hasBracketedNames: Bool) -> [SQLToken] {
        var scanner = SQLTokens(text, hasBracketedNames: hasBracketedNames), result: [SQLToken] = []
        while let token = scanner.next() { result.append(token) }
        return result
    }

    private func peek(_ distance: Int = 0) -> Unicode.Scalar? {
        offset + distance < scalars.count ? scalars[offset + distance] : nil
    }

    private mutating func next() -> SQLToken? {
        skipSpace()
        guard let first = peek() else { return nil }
        switch first {
        case "'": return .text(quoted("'"))
        case "\"", "`": return .name(quoted(first))
        case "[" where hasBracketedNames: return .name(bracketed())
        default: break
        }
        if first.properties.isXIDStart || first == "_" { return .word(take { $0.properties.isXIDContinue || $0 == "$" }) }
        if ("0"..."9").contains(first) { return .number(take { $0.properties.isXIDContinue || $0 == "." }) }
        return symbol(first)
    }

    private mutating func symbol(_ first: Unicode.Scalar) -> SQLToken {
        let pair = String(first) + (peek(1).map(String.init) ?? "")
        let text = Self.pairs.contains(pair) ? pair : String(first)
        offset += text.unicodeScalars.count
        return .symbol(text)
    }

    private mutating func take(_ belongs: (Unicode.Scalar) -> Bool) -> String {
        let start = offset
        while let next = peek(), belongs(next) { offset += 1 }
        return String(String.UnicodeScalarView(scalars[start..<offset]))
    }

    /// Returns the content of a quoted token. Two closing quotes in a row stand for one.
    private mutating func quoted(_ closing: Unicode.Scalar) -> String {
        var result = String.UnicodeScalarView()
        offset += 1
        while let next = peek() {
            offset += 1
            if next == closing {
                if peek() != closing { break }
                offset += 1
            }
            result.append(next)
        }
        return String(result)
    }

    /// Returns the content of brackets, which ends at the first closing one.
    private mutating func bracketed() -> String {
        offset += 1
        let name = take { $0 != "]" }
        offset += 1
        return name
    }

    private mutating func skipSpace() {
        while let next = peek() {
            if next == "-", peek(1) == "-" {
                while let next = peek(), next != "\n" { offset += 1 }
            } else if next == "/", peek(1) == "*" {
                offset += 2
                while peek() != nil, !(peek() == "*" && peek(1) == "/") { offset += 1 }
                offset = min(offset + 2, scalars.count)
            } else if next.properties.isWhitespace {
                offset += 1
            } else {
                return
            }
        }
    }
}
