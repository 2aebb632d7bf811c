internal import PolystoreSchema

/// Checks conditions on texts and reduces them to the simplest kind of match.
struct TextChecker {
    let expressions: ExpressionChecker

    func check(_ expression: QueryExpression, _ match: TextMatch, _ needle: String) throws(QueryError) -> CheckedPredicate {
        let text = try expressions.check(expression)
        guard text.type.isText else { throw QueryError(path: name(text), "\(match.rawValue) requires a string, not \(text.type.rawValue)") }
        if match == .search { return try search(text, SearchQuery(needle)) }
        if case .value(.null, _) = text { return .constant(false) }
        // No stored text contains U+0000, so no stored text can contain this needle.
        if needle.utf8.contains(0) { return .constant(false) }
        switch match {
        case .matches: _ = try Pattern(needle)
        case .like: return try like(text, needle)
        case .beginsWith, .endsWith, .contains, .search: break
        }
        let folded = try folded(needle, like: text, match)
        if folded.isEmpty, match != .matches { return notNil(text) }
        return condition(text, match, folded)
    }

    /// Returns a search. It folds both sides itself, so the text options have no effect.
    private func search(_ text: CheckedExpression, _ query: SearchQuery) -> CheckedPredicate {
        switch text {
        case .value(.null, _): .constant(false)
        case .function(.folded, let arguments, _): arguments.first.map { search($0, query) } ?? .constant(false)
        case .value, .path, .outer, .function, .conditional, .related: condition(text, .search, query.description)
        }
    }

    /// Returns the needle, folded as the text is.
    private func folded(_ needle: String, like text: CheckedExpression, _ match: TextMatch) throws(QueryError) -> String {
        guard match == .matches else { return try fold(needle, like: text) }
        guard case .function(.folded(let options), _, _) = text else { return needle }
        let pattern = FoldedPattern.text(needle, options)
        _ = try Pattern(pattern)
        return pattern
    }

    private func fold(_ literal: String, like text: CheckedExpression) throws(QueryError) -> String {
        if case .string(let folded) = try expressions.folded(.string(literal), like: text) { folded } else { literal }
    }

    private func name(_ text: CheckedExpression) -> String { text.property?.text ?? "" }

    private func notNil(_ text: CheckedExpression) -> CheckedPredicate {
        if case .path(let path) = text { return .not(.isNil(path)) }
        return .compare(text, .notEqual, .value(.null, text.type))
    }

    private func condition(_ text: CheckedExpression, _ match: TextMatch, _ needle: String) -> CheckedPredicate {
        if case .value(.string(let constant), _) = text { return .constant(TextMatcher(match, needle).matches(constant)) }
        return .text(text, match, ExactText(needle))
    }

    private func equals(_ text: CheckedExpression, _ constant: String) -> CheckedPredicate {
        .compare(text, .equal, .value(.string(constant), text.type))
    }

    /// Returns a `like` condition. A pattern without `?` and with stars only at its ends becomes a plain match.
    private func like(_ text: CheckedExpression, _ needle: String) throws(QueryError) -> CheckedPredicate {
        let pattern = try folded(needle, like: text, .like)
        let parts = LikePattern(pattern).parts
        let stars = parts.indices.filter { parts[$0] == .anyRun }
        let literal = parts.compactMap { if case .literal(let text) = $0 { text } else { nil } }.joined()
        if parts.contains(.anyScalar) { return condition(text, .like, pattern) }
        let last = parts.count - 1
        switch stars {
        case []: return equals(text, literal)
        case [0] where last == 0: return notNil(text)
        case [0]: return condition(text, .endsWith, literal)
        case [last]: return condition(text, .beginsWith, literal)
        case [0, last]: return condition(text, .contains, literal)
        default: return condition(text, .like, pattern)
        }
    }
}
