internal import PolystoreStorage

/// Repetitions of statements with other constants, as programs make them.
extension ProgramConditions {
    /// Returns the same request with other constants.
    mutating func varied(_ request: ProgramRequest) -> ProgramRequest {
        var copy = request
        copy.fetch.predicate = request.fetch.predicate.map { varied($0) }
        if request.fetch.limit != nil { copy.fetch.limit = below(12) }
        return copy
    }

    private mutating func varied(_ predicate: QueryPredicate) -> QueryPredicate {
        switch predicate.node {
        case .compare(let a, let comparison, let b): return .compare(a, comparison, varied(b))
        case .isIn(let expression, let values): return .isIn(expression, values.map { varied($0) })
        case .between(let expression, let low, let high): return .between(expression, varied(low), varied(high))
        case .related(let quantifier, let path, let inner): return .related(quantifier, path, varied(inner))
        case .quantified(let quantifier, let inner): return .quantified(quantifier, varied(inner))
        case .and(let parts): return .and(parts.map { varied($0) })
        case .or(let parts): return .or(parts.map { varied($0) })
        case .not(let part): return .not(varied(part))
        case .constant, .text, .open, .isEntity: return predicate
        }
    }

    private mutating func varied(_ expression: QueryExpression) -> QueryExpression {
        if case .value(let value) = expression.node { return .value(varied(value)) }
        return expression
    }

    private mutating func varied(_ value: Value) -> Value { value.type.map { self.value($0) } ?? .null }
}
