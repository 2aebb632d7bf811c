internal import PolystoreSchema

/// One word of a predicate's text.
struct PredicateToken {
    enum Kind: Equatable {
        case name(String)
        case number(String)
        case text(String)
        case symbol(String)
        case end
    }

    let kind: Kind
    /// The position of the first character, counted from 1.
    let position: Int
}

/// Cuts the text of a predicate into words.
struct PredicateLexer {
    private let scalars: [Unicode.Scalar]
    private var offset = 0

    init(_ text: String) { scalars = Array(text.unicodeScalars) }

    /// All words, the last one the end.
    static func tokens(_ text: String) throws(QueryError) -> [PredicateToken] {
        var lexer = PredicateLexer(text)
        var tokens: [PredicateToken] = []
        while true {
            let token = try lexer.next()
            tokens.append(token)
            if token.kind == .end { return tokens }
        }
    }

    private mutating func next() throws(QueryError) -> PredicateToken {
        while offset < scalars.count, scalars[offset].properties.isWhitespace { offset += 1 }
        let position = offset + 1
        guard offset < scalars.count else { return PredicateToken(kind: .end, position: position) }
        let scalar = scalars[offset]
        if scalar.properties.isXIDStart { return PredicateToken(kind: .name(take(Self.isName)), position: position) }
        if ("0"..."9").contains(scalar) || (scalar == "-" && isDigit(offset + 1)) {
            return PredicateToken(kind: .number(number()), position: position)
        }
        if scalar == "'" || scalar == "\"" { return PredicateToken(kind: .text(try text(scalar)), position: position) }
        for symbol in ["==", "!=", "<>", "<=", ">=", "=<", "=>", "&&", "||", "=", "<", ">", "(", ")", "{", "}", ",", "!"] {
            let parts = Array(symbol.unicodeScalars)
            if scalars[offset...].starts(with: parts) {
                offset += parts.count
                return PredicateToken(kind: .symbol(symbol), position: position)
            }
        }
        throw QueryError("at character \(position): \"\(scalar)\" is not expected")
    }

    private static func isName(_ scalar: Unicode.Scalar) -> Bool { scalar.properties.isXIDContinue || scalar == "." }
    private func isDigit(_ index: Int) -> Bool { index < scalars.count && ("0"..."9").contains(scalars[index]) }

    private mutating func take(_ accepts: (Unicode.Scalar) -> Bool) -> String {
        var text = String.UnicodeScalarView()
        while offset < scalars.count, accepts(scalars[offset]) {
            text.append(scalars[offset])
            offset += 1
        }
        return String(text)
    }

    private mutating func number() -> String {
        var text = scalars[offset] == "-" ? "-" : ""
        if text == "-" { offset += 1 }
        text += take { ("0"..."9").contains($0) }
        if offset < scalars.count, scalars[offset] == ".", isDigit(offset + 1) {
            offset += 1
            text += "." + take { ("0"..."9").contains($0) }
        }
        guard offset < scalars.count, scalars[offset] == "e" || scalars[offset] == "E" else { return text }
        let hasSign = offset + 1 < scalars.count && (scalars[offset + 1] == "-" || scalars[offset + 1] == "+")
        guard isDigit(offset + (hasSign ? 2 : 1)) else { return text }
        text += "e" + (hasSign ? String(scalars[offset + 1]) : "")
        offset += hasSign ? 2 : 1
        return text + take { ("0"..."9").contains($0) }
    }

    private mutating func text(_ quote: Unicode.Scalar) throws(QueryError) -> String {
        let start = offset + 1
        offset += 1
        var result = String.UnicodeScalarView()
        while offset < scalars.count {
            let scalar = scalars[offset]
            offset += 1
            if scalar == quote { return String(result) }
            guard scalar == "\\" else {
                result.append(scalar)
                continue
            }
            guard offset < scalars.count else { break }
            switch scalars[offset] {
            case "n": result.append("\n")
            case "t": result.append("\t")
            case "r": result.append("\r")
            default: result.append(scalars[offset])
            }
            offset += 1
        }
        throw QueryError("at character \(start): the text is not closed")
    }
}
