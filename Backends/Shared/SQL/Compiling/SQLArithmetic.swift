internal import PolystoreStorage

/// Conditions on arithmetic that can fail, for engines in which a failure would end the transaction. Such an engine computes with whole
/// numbers of any size, and finds the rows that satisfy a condition and those for which the arithmetic fails; the layer above removes the
/// former's surplus and reports the failure of the latter.
extension SQLPredicates {
    /// The maximum number of functions in a condition. The text of each is repeated for every function that it is an argument of.
    private static let mostFunctions = 12

    /// Whether the engine finds all rows that satisfy a condition, and those for which it fails.
    func isWidened(_ predicate: CheckedPredicate) -> Bool {
        guard tables.dialect.wideType != nil, predicate.canFail else { return false }
        var functions = 0
        predicate.walk { node, _ in
            if case .expression(.function) = node { functions += 1 }
            return .into
        }
        guard functions <= Self.mostFunctions else { return false }
        switch predicate {
        case .compare(let a, _, let b): return isWide(a) && isWide(b)
        case .isIn(let a, _): return isWide(a)
        case .constant, .isNil, .text, .related, .isEntity, .and, .or, .not: return false
        }
    }

    /// Returns the parts of a conjunction that an engine evaluates. If a failure would end the transaction, it finds all rows for which the
    /// first part that can fail does so, and no later part may remove them.
    func selecting(_ parts: [CheckedPredicate]) -> ArraySlice<CheckedPredicate> {
        guard !tables.dialect.failsAlone, let first = parts.firstIndex(where: \.canFail) else { return parts[...] }
        return parts[...first]
    }

    private func isWide(_ expression: CheckedExpression) -> Bool {
        guard expression.type.isInteger else { return false }
        if isExact(expression) { return true }
        guard case .function(let function, let arguments, .int64) = expression else { return false }
        return SQLFunction.of(function).wide != nil && arguments.allSatisfy(isWide)
    }

    /// Returns a condition that also selects the rows for which it fails; nil for a condition that `isWidened` excludes.
    func widened(_ predicate: CheckedPredicate, _ joins: inout SQLJoins) -> SQLText? {
        guard isWidened(predicate) else { return nil }
        var failures: [SQLText] = [], condition: SQLText
        switch predicate {
        case .compare(let a, let comparison, let b):
            let left = wide(a, &failures, &joins), right = wide(b, &failures, &joins)
            condition = compare(left, comparison, right)
        case .isIn(let a, let values): condition = tables.dialect.isIn(wide(a, &failures, &joins), values, .int64)
        case .constant, .isNil, .text, .related, .isEntity, .and, .or, .not: return nil
        }
        return "(\(SQLText.joinedChain(failures + [condition], " OR ")))"
    }

    private func wide(_ expression: CheckedExpression, _ failures: inout [SQLText], _ joins: inout SQLJoins) -> SQLText {
        guard !isExact(expression), case .function(let function, let arguments, _) = expression else {
            return "(\(compile(expression, &joins)))::\(raw: tables.dialect.wideType ?? "")"
        }
        var texts: [SQLText] = []
        for argument in arguments { texts.append(wide(argument, &failures, &joins)) }
        let sql = SQLFunction.of(function), result = sql.wide?(texts) ?? "NULL"
        if sql.divides { failures.append("\(texts[1]) = 0") }
        failures.append("\(result) NOT BETWEEN \(raw: String(Int64.min)) AND \(raw: String(Int64.max))")
        return result
    }
}
