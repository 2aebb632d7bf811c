/// Parses the text of a pattern by recursive descent.
struct PatternParser {
    private static let mostSteps = 10_000
    private static let deepest = 100
    private static let mostRepetitions = 1000

    private let text: String
    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var depth = 0

    init(_ text: String) {
        self.text = text
        scalars = Array(text.unicodeScalars)
    }

    mutating func parse() throws(QueryError) -> PatternNode {
        let node = try alternation()
        if position < scalars.count { throw problem("an unmatched \")\"") }
        return node
    }

    private func problem(_ what: String) -> QueryError {
        QueryError(.invalid, path: text, "the pattern has \(what) at character \(position + 1)")
    }

    private var next: Unicode.Scalar? { position < scalars.count ? scalars[position] : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard next == scalar else { return false }
        position += 1
        return true
    }

    private mutating func alternation() throws(QueryError) -> PatternNode {
        var branches = [try sequence()]
        while take("|") { branches.append(try sequence()) }
        return branches.count == 1 ? branches[0] : try checked(.alternation(branches))
    }

    private mutating func sequence() throws(QueryError) -> PatternNode {
        var parts: [PatternNode] = []
        while let scalar = next, scalar != "|", scalar != ")" { parts.append(try repetition()) }
        return try checked(.sequence(parts))
    }

    private mutating func repetition() throws(QueryError) -> PatternNode {
        var node = try atom(), levels = 0
        while let (least, most) = try quantifier() {
            levels += 1
            // A "?" after a quantifier prefers few repetitions, which gives the same answer for a whole text.
            _ = take("?")
            // Elsewhere it means a repetition that gives nothing back, which a matcher of all alternatives at once does not have.
            if next == "+" { throw problem("an unsupported possessive quantifier") }
            if levels > Self.deepest {
                throw QueryError(.tooComplex, path: text, "the pattern has more than \(Self.deepest) repetitions of one part")
            }
            node = try checked(.repeated(node, least, most))
        }
        return node
    }

    private mutating func quantifier() throws(QueryError) -> (Int, Int?)? {
        if take("*") { return (0, nil) }
        if take("+") { return (1, nil) }
        if take("?") { return (0, 1) }
        guard take("{") else { return nil }
        guard let least = number() else { throw problem("no number of repetitions") }
        var most: Int? = least
        if take(",") { most = number() }
        guard take("}") else { throw problem("no \"}\"") }
        if least > most ?? .max || max(least, most ?? 0) > Self.mostRepetitions { throw problem("an invalid number of repetitions") }
        return (least, most)
    }

    private mutating func number() -> Int? {
        var value: Int?
        while let scalar = next, ("0"..."9").contains(scalar), (value ?? 0) < 100_000 {
            value = (value ?? 0) * 10 + Int(scalar.value - 0x30)
            position += 1
        }
        return value
    }

    private mutating func atom() throws(QueryError) -> PatternNode {
        guard let scalar = next else { throw problem("no character") }
        position += 1
        switch scalar {
        case ".": return .scalar(.any)
        case "^": return .start
        case "$": return .end
        case "(": return try group()
        case "[": return .scalar(try characterClass())
        case "\\": return .scalar(try escape())
        case "*", "+", "?", "{":
            position -= 1
            throw problem("nothing to repeat")
        default: return .scalar(.one(scalar))
        }
    }

    private mutating func group() throws(QueryError) -> PatternNode {
        if take("?"), !take(":") { throw problem("an unsupported kind of group") }
        depth += 1
        if depth > Self.deepest { throw QueryError(.tooComplex, path: text, "the pattern has more than \(Self.deepest) levels of groups") }
        let node = try alternation()
        guard take(")") else { throw problem("no \")\"") }
        depth -= 1
        return node
    }

    private mutating func escape() throws(QueryError) -> ScalarClass {
        guard let scalar = next else { throw problem("a \"\\\" at its end") }
        position += 1
        switch scalar {
        case "d": return .digit
        case "D": return .digit.negated
        case "w": return .word
        case "W": return .word.negated
        case "s": return .space
        case "S": return .space.negated
        case "n": return .one("\n")
        case "r": return .one("\r")
        case "t": return .one("\t")
        case "a"..."z", "A"..."Z", "0"..."9":
            position -= 1
            throw problem("an unsupported escape")
        default: return .one(scalar)
        }
    }

    private mutating func characterClass() throws(QueryError) -> ScalarClass {
        var result = ScalarClass()
        result.isNegated = take("^")
        var isFirst = true
        while let scalar = next, scalar != "]" || isFirst {
            isFirst = false
            // Elsewhere these begin a class in the class, an intersection, and a difference.
            if scalar == "[" { throw problem("an unsupported class in a class, or a \"[\" without a \"\\\"") }
            position += 1
            if scalar == "&", next == "&" { throw problem("an unsupported intersection of classes, or a second \"&\" without a \"\\\"") }
            if scalar == "&", isRange { throw problem("a range that begins with \"&\" without a \"\\\"") }
            if scalar == "-", next == "-" { throw difference }
            if scalar == "\\" {
                let escaped = try escape()
                if escaped.isNegated || escaped.ranges.count != 1 || escaped.ranges[0].count > 1 {
                    result.nested.append(escaped)
                    continue
                }
                try addRange(from: escaped.ranges[0].lowerBound, to: &result)
            } else {
                try addRange(from: scalar.value, to: &result)
            }
        }
        guard take("]") else { throw problem("no \"]\"") }
        return result
    }

    private var difference: QueryError { problem("an unsupported difference of classes, or a second \"-\" without a \"\\\"") }

    /// Whether a hyphen and another scalar of a class follow.
    private var isRange: Bool { next == "-" && position + 1 < scalars.count && scalars[position + 1] != "]" }

    /// Adds one scalar, or a range if a hyphen and another scalar follow.
    private mutating func addRange(from first: UInt32, to result: inout ScalarClass) throws(QueryError) {
        guard isRange else {
            result.ranges.append(first...first)
            return
        }
        position += 1
        if next == "-" { throw difference }
        var last = scalars[position].value
        if last == 0x5B { throw problem("an unsupported class in a class, or a \"[\" without a \"\\\"") }
        position += 1
        if last == 0x5C {
            let escaped = try escape()
            guard !escaped.isNegated, escaped.ranges.count == 1, escaped.ranges[0].count == 1 else {
                throw problem("a character class as the end of a range")
            }
            last = escaped.ranges[0].lowerBound
        }
        guard first <= last else { throw problem("a range whose end is before its start") }
        result.ranges.append(first...last)
    }

    private func checked(_ node: PatternNode) throws(QueryError) -> PatternNode {
        if node.steps > Self.mostSteps { throw QueryError(.tooComplex, path: text, "the pattern has more than \(Self.mostSteps) steps") }
        return node
    }
}
