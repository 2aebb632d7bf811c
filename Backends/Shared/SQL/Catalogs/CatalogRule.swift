internal import PolystoreFoundation
internal import PolystoreStorage

/// A comparison in a check condition, translated to a validation rule of an attribute where a rule can express it.
struct CatalogRule {
    private enum Meaning {
        case allowed([Value])
        case minimum(Value), maximum(Value)
        case minLength(Int), maxLength(Int)
        case required
    }

    private let tokens: [SQLToken]
    private let columns: [String: Int]
    private let folded: Set<Int>

    /// - Parameters:
    ///   - columns: The positions of attributes by the names of their columns in lower case.
    ///   - folded: The positions of attributes whose texts the database does not compare by bytes.
    init(_ tokens: [SQLToken], _ columns: [String: Int], _ folded: Set<Int>) {
        self.tokens = tokens
        self.columns = columns
        self.folded = folded
    }

    /// Adds the rule to its attribute. Returns false where no rule expresses the comparison.
    func apply(to attributes: inout [Attribute]) -> Bool {
        if isLength, tokens.count == 4, let index = column(tokens[1]), let meaning = length(tokens[2], tokens[3]) {
            // Every database measures the length of other types differently.
            if !attributes[index].type.isText { return false }
            return Self.add([meaning], to: &attributes[index])
        }
        guard let first = tokens.first, let index = column(first) else { return false }
        guard let meanings = meanings(Array(tokens.dropFirst()), attributes[index]) else { return false }
        // The database also allows other texts than those of the list, such as those that differ only in their case.
        for case .allowed in meanings where attributes[index].type.isText && folded.contains(index) { return false }
        return Self.add(meanings, to: &attributes[index])
    }

    private var isLength: Bool {
        ["LENGTH", "CHAR_LENGTH", "CHARACTER_LENGTH"].contains { name in tokens.first?.isWord(name) ?? false }
    }

    private func column(_ token: SQLToken) -> Int? {
        token.identifier.flatMap { columns[$0.lowercased()] }
    }

    private func length(_ sign: SQLToken, _ token: SQLToken) -> Meaning? {
        guard case .number(let text) = token, let number = Int(text), case .symbol(let sign) = sign else { return nil }
        switch sign {
        case "<=": return .maxLength(number)
        case "<": return number > 0 ? .maxLength(number - 1) : nil
        case ">=": return .minLength(number)
        case ">": return number < .max ? .minLength(number + 1) : nil
        default: return nil
        }
    }

    /// Returns the meaning of the tokens that follow the column.
    private func meanings(_ rest: [SQLToken], _ attribute: Attribute) -> [Meaning]? {
        guard let first = rest.first else { return nil }
        if rest.count == 3, first.isWord("IS"), rest[1].isWord("NOT"), rest[2].isWord("NULL") { return [.required] }
        if first.isWord("IN") { return allowed(rest.dropFirst(), attribute) }
        if rest.count > 2, first.isSymbol("="), rest[1].isWord("ANY"), rest[2].isWord("ARRAY") {
            return allowed(rest.dropFirst(3), attribute)
        }
        if first.isWord("BETWEEN") {
            let ends = rest.dropFirst().split { $0.isWord("AND") }
            guard ends.count == 2, let least = number(ends[0], attribute), let most = number(ends[1], attribute) else { return nil }
            return [.minimum(least), .maximum(most)]
        }
        guard case .symbol(let sign) = first, let value = number(rest.dropFirst(), attribute) else { return nil }
        return limit(sign, value).map { [$0] }
    }

    private func limit(_ sign: String, _ value: Value) -> Meaning? {
        // The next integer expresses the same limit; other numbers have no successor.
        let whole: Int64? = if case .int(let number) = value { number } else { nil }
        switch sign {
        case ">=": return .minimum(value)
        case "<=": return .maximum(value)
        case ">": return whole.flatMap { $0 < .max ? .minimum(.int($0 + 1)) : nil }
        case "<": return whole.flatMap { $0 > .min ? .maximum(.int($0 - 1)) : nil }
        default: return nil
        }
    }

    private func allowed(_ list: ArraySlice<SQLToken>, _ attribute: Attribute) -> [Meaning]? {
        var values: [Value] = []
        for item in list.split(separator: .symbol(","), omittingEmptySubsequences: false) {
            guard let value = value(item, attribute) else { return nil }
            if !values.contains(value) { values.append(value) }
        }
        // A Boolean has no other values.
        return attribute.type == .bool ? [] : [.allowed(values)]
    }

    /// Returns a number. Only numbers can have limits, because every database orders texts differently.
    private func number(_ tokens: ArraySlice<SQLToken>, _ attribute: Attribute) -> Value? {
        attribute.type.isNumeric ? value(tokens, attribute) : nil
    }

    private func value(_ tokens: ArraySlice<SQLToken>, _ attribute: Attribute) -> Value? {
        var tokens = tokens, text = ""
        if tokens.count == 2, let sign = tokens.first, sign.isSymbol("-") || sign.isSymbol("+") {
            text = sign.isSymbol("-") ? "-" : ""
            tokens = tokens.dropFirst()
        }
        guard tokens.count == 1, let token = tokens.first else { return nil }
        switch token {
        case .number(let digits) where attribute.type.isNumeric || attribute.type == .bool: text += digits
        // PostgreSQL writes negative numbers as texts with a cast.
        case .text(let content) where attribute.type.isText || attribute.type.isNumeric: text += content
        case .word(let word) where attribute.type == .bool: text = word
        case .text, .number, .word, .name, .symbol: return nil
        }
        guard let value = ValueText.value(text, as: attribute.type) else { return nil }
        return try? attribute.normalise(value)
    }

    /// Adds the meanings of a condition to an attribute. Returns false if they would allow no value at all or cannot be expressed by an
    /// attribute.
    private static func add(_ meanings: [Meaning], to attribute: inout Attribute) -> Bool {
        var changed = attribute
        for meaning in meanings {
            switch meaning {
            case .allowed(let values):
                let both = changed.allowedValues.filter(values.contains)
                if both.isEmpty, !changed.allowedValues.isEmpty { return false }
                changed.allowedValues = changed.allowedValues.isEmpty ? values : both
            case .minimum(let value): changed.rules.minimum = changed.rules.minimum.map { max($0, value) } ?? value
            case .maximum(let value): changed.rules.maximum = changed.rules.maximum.map { min($0, value) } ?? value
            case .minLength(let count): changed.rules.minLength = max(changed.rules.minLength ?? 0, count)
            case .maxLength(let count): changed.rules.maxLength = min(changed.rules.maxLength ?? .max, count)
            case .required: changed.isOptional = false
            }
        }
        guard (try? Schema(entities: [Entity("entity", attributes: [changed])])) != nil else { return false }
        attribute = changed
        return true
    }

    private static func max(_ a: Value, _ b: Value) -> Value { a.compare(to: b) < 0 ? b : a }
    private static func min(_ a: Value, _ b: Value) -> Value { a.compare(to: b) < 0 ? a : b }
    private static func max(_ a: Int, _ b: Int) -> Int { Swift.max(a, b) }
    private static func min(_ a: Int, _ b: Int) -> Int { Swift.min(a, b) }
}
