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
        case .compareExpressions(let a, _, let b): return isWide(a) && isWide(b)
        case .isInExpression(let a, _): return isWide(a)
        case .constant, .isNil, .compare, .comparePaths, .isIn, .text, .textOf, .related, .isEntity, .and, .or, .not: return false
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
        return wide(function, arguments.map { _ in "" }) != nil && arguments.allSatisfy(isWide)
    }

    /// Returns a condition that also selects the rows for which it fails; nil for a condition that `isWidened` excludes.
    func widened(_ predicate: CheckedPredicate, _ joins: inout SQLJoins) -> SQLText? {
        guard isWidened(predicate) else { return nil }
        var failures: [SQLText] = [], condition: SQLText
        switch predicate {
        case .compareExpressions(let a, let comparison, let b):
            let left = wide(a, &failures, &joins), right = wide(b, &failures, &joins)
            condition = compare(left, comparison, right)
        case .isInExpression(let a, let values): condition = tables.dialect.isIn(wide(a, &failures, &joins), values, .int64)
        case .constant, .isNil, .compare, .comparePaths, .isIn, .text, .textOf, .related, .isEntity, .and, .or, .not: return nil
        }
        return "(\(SQLText.joinedChain(failures + [condition], " OR ")))"
    }

    private func wide(_ expression: CheckedExpression, _ failures: inout [SQLText], _ joins: inout SQLJoins) -> SQLText {
        guard !isExact(expression), case .function(let function, let arguments, _) = expression else {
            return "(\(compile(expression, &joins)))::\(raw: tables.dialect.wideType ?? "")"
        }
        var texts: [SQLText] = []
        for argument in arguments { texts.append(wide(argument, &failures, &joins)) }
        let result = wide(function, texts) ?? "NULL"
        if function == .divide || function == .modulo { failures.append("\(texts[1]) = 0") }
        failures.append("\(result) NOT BETWEEN \(raw: String(Int64.min)) AND \(raw: String(Int64.max))")
        return result
    }

    /// Returns a function of whole numbers of any size; nil for one that cannot fail or is none of such numbers.
    private func wide(_ function: Function, _ texts: [SQLText]) -> SQLText? {
        switch function {
        case .add: "(\(texts[0]) + \(texts[1]))"
        case .subtract: "(\(texts[0]) - \(texts[1]))"
        case .multiply: "(\(texts[0]) * \(texts[1]))"
        case .divide: "div(\(texts[0]), NULLIF(\(texts[1]), 0))"
        case .modulo: "mod(\(texts[0]), NULLIF(\(texts[1]), 0))"
        case .negate: "(- \(texts[0]))"
        case .absolute: "abs(\(texts[0]))"
        case .floor, .ceiling, .round, .bitAnd, .bitOr, .uppercase, .lowercase, .trim, .length, .concatenate, .folded, .coalesce, .datePart:
            nil
        }
    }
}
