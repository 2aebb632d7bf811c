package import PolystoreSchema

/// The rules for the values of an attribute, with its pattern compiled.
package struct AttributeCheck: Sendable {
    private let rules: AttributeRules
    private let pattern: Pattern?

    /// Creates the rules of an attribute, or nil if it has none.
    ///
    /// - Throws: `QueryError` for an invalid pattern.
    package init?(_ attribute: Attribute) throws(QueryError) {
        if attribute.rules.isEmpty { return nil }
        rules = attribute.rules
        pattern = try attribute.rules.pattern.map { text throws(QueryError) in try Pattern(text) }
    }

    /// Returns a message for each rule that a value violates. Nil violates none.
    package func failures(of value: Value) -> [String] {
        if value.isNull { return [] }
        var messages: [String] = []
        if let minimum = rules.minimum, value.compare(to: minimum) < 0 {
            messages.append("must be at least \(JSONWriter.write(ValueText.json(minimum)))")
        }
        if let maximum = rules.maximum, value.compare(to: maximum) > 0 {
            messages.append("must be at most \(JSONWriter.write(ValueText.json(maximum)))")
        }
        let isText = value.type == .string, unit = isText ? "characters" : "bytes"
        let length = if case .string(let text) = value { text.unicodeScalars.count } else { value.byteCount ?? 0 }
        if let least = rules.minLength, length < least { messages.append("must have at least \(least) \(unit)") }
        if let most = rules.maxLength, length > most { messages.append("must have at most \(most) \(unit)") }
        if let pattern, case .string(let text) = value, !pattern.matches(text) { messages.append("must match \(pattern.text)") }
        return messages
    }
}
