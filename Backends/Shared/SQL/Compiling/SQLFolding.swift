internal import PolystoreStorage

/// Conditions on folded texts, for engines whose case folding follows the contract only for ASCII. Such an engine finds the ASCII texts
/// that satisfy a condition and all other texts; the layer above removes those that do not satisfy it.
extension SQLPredicates {
    /// Whether the engine finds all rows that satisfy a condition, and possibly others.
    func isInexact(_ predicate: CheckedPredicate) -> Bool {
        switch predicate {
        case .and(let parts): selecting(parts).allSatisfy { isExact($0) || isInexact($0) }
        case .or(let parts): parts.allSatisfy { isExact($0) || isInexact($0) }
        // The negation of a condition that selects too many rows selects too few.
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
        case .compare(let a, _, .value): return folded(a)
        case .isIn(let a, _): return folded(a)
        case .text(let a, let match, let needle): return tables.dialect.match("", match, needle.text) == nil ? nil : folded(a)
        case .constant, .isNil, .compare, .related, .isEntity, .and, .or, .not: return nil
        }
    }
}
