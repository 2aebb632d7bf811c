package import PolystoreStorage

/// Conditions on folded texts, for engines whose case folding follows the contract only for ASCII. Such an engine finds the ASCII texts
/// that satisfy a condition and all other texts; the layer above removes those that do not satisfy it.
extension SQLPredicates {
    /// Whether the engine finds all rows that satisfy a condition, and possibly others.
    func isInexact(_ predicate: CheckedPredicate) -> Bool {
        switch predicate {
        case .and(let parts): selecting(parts).allSatisfy { isExact($0) || isInexact($0) }
        case .or(let parts): parts.allSatisfy { isExact($0) || isInexact($0) }
        // The negation of a condition that selects too many rows selects too few; that of a condition on ASCII texts is as exact as it is.
        case .constant, .isNil, .compare, .isIn, .text, .related, .isEntity, .not: foldedASCII(predicate) != nil || isWidened(predicate)
        }
    }

    /// Returns the text that a condition folds, and the options of the folding, where the engine folds only ASCII.
    func foldedASCII(_ predicate: CheckedPredicate) -> (text: CheckedExpression, options: TextOptions)? {
        guard tables.dialect.foldASCII != nil else { return nil }
        func folded(_ expression: CheckedExpression) -> (CheckedExpression, TextOptions)? {
            guard case .function(.folded(let options), let arguments, _) = expression, isExact(arguments[0]) else { return nil }
            return (arguments[0], options)
        }
        switch predicate {
        case .compare(let a, _, .value(let value, _)): return takes(value) ? folded(a) : nil
        case .isIn(let a, let values): return values.allSatisfy(takes) ? folded(a) : nil
        case .text(let a, let match, let needle):
            return takes(.string(needle.text)) && tables.dialect.match("", match, needle.text) != nil ? folded(a) : nil
        case .not(.not): return nil
        case .not(let part): return foldedASCII(part)
        case .constant, .isNil, .compare, .related, .isEntity, .and, .or: return nil
        }
    }

    /// The maximum number of patterns of a condition.
    private static var mostPatterns: Int { 64 }

    /// Returns a condition that all texts satisfy whose folded form satisfies a condition, or nil where there is none but the one that all
    /// texts satisfy.
    ///
    /// - Parameter text: The text with its ASCII letters folded.
    func narrowed(_ predicate: CheckedPredicate, _ text: SQLText, _ options: TextOptions) -> SQLText? {
        let patterns: [[LikePattern.Part]?]
        switch predicate {
        case .compare(_, .equal, .value(.string(let needle), _)): patterns = [FoldedNeedle.pattern(nil, needle, options)]
        case .isIn(_, let values) where values.count <= Self.mostPatterns:
            patterns = values.map { FoldedNeedle.pattern(nil, $0.text, options) }
        case .text(_, let match, let needle): patterns = [FoldedNeedle.pattern(match, needle.text, options)]
        case .constant, .isNil, .compare, .isIn, .related, .isEntity, .and, .or, .not: return nil
        }
        let texts = patterns.compactMap(\.self).map(SQLText.likePattern)
        guard texts.count == patterns.count, let first = texts.first else { return nil }
        if texts.count == 1 { return "\(text) LIKE \(bind: .string(first), .string)" }
        return "\(text) LIKE ANY(\(list: texts.map(Value.string), .string))"
    }
}

extension SQLText {
    /// Returns a pattern in the form of `LIKE`, with `\` as its escape.
    package static func likePattern(_ parts: [LikePattern.Part]) -> String {
        parts.map { part in
            switch part {
            case .anyRun: return "%"
            case .anyScalar: return "_"
            case .literal(let text):
                return text.unicodeScalars.map { "%_\\".unicodeScalars.contains($0) ? "\\\($0)" : String($0) }.joined()
            }
        }.joined()
    }
}
