internal import PolystoreSchema

/// Splits the text of a predicate into tokens.
struct PredicateLexer {
    /// The maximum length of a text. Longer texts are refused before parsing.
    static let longest = 1_000_000
    /// The maximum nesting of parentheses. Deeper ones are refused during lexing.
    static let deepest = 200
    private static let symbols: [(text: String, scalars: [Unicode.Scalar])] =
        [
            "==", "!=", "<>", "<=", ">=", "=<", "=>", "&&", "||", "=", "<", ">", "(", ")", "{", "}", "[", "]", ",", "!", "+", "-", "*", "/",
            ".", "&", "|",
        ].map { ($0, Array($0.unicodeScalars)) }

    private let scalars: [Unicode.Scalar]
    private var offset = 0

    private init(_ text: String) { scalars = Array(text.unicodeScalars) }

    /// Returns all tokens, with the end as the last one, and for each opening parenthesis the index of its closing one.
    static func tokens(_ text: String) throws(QueryError) -> (tokens: [PredicateToken], closings: [Int: Int]) {
        if text.utf8.count > longest { throw QueryError(.tooComplex, "the text of a predicate can have at most \(longest) bytes") }
        var lexer = PredicateLexer(text)
        var tokens: [PredicateToken] = [], open: [Int] = [], closings: [Int: Int] = [:]
        while true {
            let token = try lexer.next()
            switch token.kind {
            case .symbol("("):
                open.append(tokens.count)
                if open.count > deepest { throw tooDeep(token) }
            case .symbol(")"): if let opening = open.popLast() { closings[opening] = tokens.count }
            default: break
            }
            tokens.append(token)
            if token.kind == .end { return (tokens, closings) }
        }
    }

    static func tooDeep(_ token: PredicateToken) -> QueryError {
        QueryError(.tooComplex, "at character \(token.position): at most \(deepest) levels of parentheses are allowed")
    }

    private var current: Unicode.Scalar? { offset < scalars.count ? scalars[offset] : nil }

    private mutating func next() throws(QueryError) -> PredicateToken {
        while let scalar = current, scalar == " " || scalar.properties.isWhitespace { offset += 1 }
        let position = offset + 1
        guard let scalar = current else { return PredicateToken(kind: .end, position: position) }
        func token(_ kind: PredicateToken.Kind) -> PredicateToken { PredicateToken(kind: kind, position: position) }
        if Self.isNameStart(scalar) { return token(.name(name(), isQuoted: false)) }
        if Self.isDigit(scalar) { return token(.number(number())) }
        switch scalar {
        case "'", "\"": return token(.text(try text(scalar)))
        case "#", "@", "$":
            offset += 1
            guard let start = current, Self.isNameStart(start) else {
                throw QueryError("at character \(position): a name is expected after \"\(scalar)\"")
            }
            let name = name()
            return token(scalar == "#" ? .name(name, isQuoted: true) : (scalar == "@" ? .operation(name) : .variable(name)))
        case "%": return token(.placeholder(try placeholder(position)))
        default:
            for (text, parts) in Self.symbols where parts.first == scalar && scalars[offset...].starts(with: parts) {
                offset += parts.count
                return token(.symbol(text))
            }
            throw QueryError("at character \(position): \"\(scalar)\" is not expected")
        }
    }

    private static func isNameStart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII ? ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) || scalar == "_" : scalar.properties.isXIDStart
    }

    private static func isNamePart(_ scalar: Unicode.Scalar) -> Bool {
        scalar.isASCII ? isNameStart(scalar) || isDigit(scalar) : scalar.properties.isXIDContinue
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
    private func isDigit(_ index: Int) -> Bool { index < scalars.count && Self.isDigit(scalars[index]) }

    private mutating func take(_ accepts: (Unicode.Scalar) -> Bool) -> String {
        var text = String.UnicodeScalarView()
        while let scalar = current, accepts(scalar) {
            text.append(scalar)
            offset += 1
        }
        return String(text)
    }

    private mutating func name() -> String { take(Self.isNamePart) }

    private mutating func placeholder(_ position: Int) throws(QueryError) -> String {
        offset += 1
        let flags = take { "0123456789.lhqzt-".unicodeScalars.contains($0) }
        guard let scalar = current, "@KdDiuxXoOcfeEgGaAsS".unicodeScalars.contains(scalar) else {
            throw QueryError("at character \(position): a format specifier such as @, K, d, f or s is expected after %")
        }
        offset += 1
        _ = flags
        return String(scalar)
    }

    private mutating func number() -> String {
        if scalars[offset] == "0", offset + 1 < scalars.count, scalars[offset + 1] == "x" || scalars[offset + 1] == "X" {
            offset += 2
            return "0x" + take { $0.properties.isASCIIHexDigit }
        }
        var text = take(Self.isDigit)
        if current == ".", isDigit(offset + 1) {
            offset += 1
            text += "." + take(Self.isDigit)
        }
        guard current == "e" || current == "E" else { return text }
        let hasSign = offset + 1 < scalars.count && (scalars[offset + 1] == "-" || scalars[offset + 1] == "+")
        guard isDigit(offset + (hasSign ? 2 : 1)) else { return text }
        text += "e" + (hasSign ? String(scalars[offset + 1]) : "")
        offset += hasSign ? 2 : 1
        return text + take(Self.isDigit)
    }

    private mutating func text(_ quote: Unicode.Scalar) throws(QueryError) -> String {
        let start = offset + 1
        offset += 1
        var result = String.UnicodeScalarView()
        while let scalar = current {
            offset += 1
            if scalar == quote { return String(result) }
            guard scalar == "\\" else {
                result.append(scalar)
                continue
            }
            guard let escaped = current else { break }
            switch escaped {
            case "n": result.append("\n")
            case "t": result.append("\t")
            case "r": result.append("\r")
            default: result.append(escaped)
            }
            offset += 1
        }
        throw QueryError("at character \(start): the string is not terminated")
    }
}
