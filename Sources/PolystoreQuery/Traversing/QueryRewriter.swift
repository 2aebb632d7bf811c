/// Rewrites a condition or expression. Nodes that an implementation does not change are rebuilt from their rewritten parts.
///
/// The depth is the number of conditions on related objects around a part.
protocol QueryRewriter {
    mutating func rewritten(_ predicate: QueryPredicate, _ depth: Int) throws(QueryError) -> QueryPredicate
    mutating func rewritten(_ expression: QueryExpression, _ depth: Int) throws(QueryError) -> QueryExpression
}

extension QueryRewriter {
    mutating func rewritten(_ predicate: QueryPredicate, _ depth: Int) throws(QueryError) -> QueryPredicate {
        try rebuilt(predicate, depth)
    }

    mutating func rebuilt(_ predicate: QueryPredicate, _ depth: Int) throws(QueryError) -> QueryPredicate {
        switch predicate.node {
        case .constant, .isEntity: return predicate
        case .compare(let a, let comparison, let b): return .compare(try rewritten(a, depth), comparison, try rewritten(b, depth))
        case .isIn(let expression, let values): return .isIn(try rewritten(expression, depth), values)
        case .between(let a, let low, let high):
            return .between(try rewritten(a, depth), try rewritten(low, depth), try rewritten(high, depth))
        case .text(let expression, let match, let needle): return .text(try rewritten(expression, depth), match, needle)
        case .open(let expression, let test, let name): return .open(try rewritten(expression, depth), test, name)
        case .related(let quantifier, let path, let inner): return .related(quantifier, path, try rewritten(inner, depth + 1))
        case .quantified(let quantifier, let inner): return .quantified(quantifier, try rewritten(inner, depth))
        case .and(let parts): return .and(try parts.mapChecked { part throws(QueryError) in try rewritten(part, depth) })
        case .or(let parts): return .or(try parts.mapChecked { part throws(QueryError) in try rewritten(part, depth) })
        case .not(let part): return .not(try rewritten(part, depth))
        }
    }

    mutating func rebuilt(_ expression: QueryExpression, _ depth: Int) throws(QueryError) -> QueryExpression {
        switch expression.node {
        case .path, .outer, .value, .variable: return expression
        case .function(let function, let arguments):
            return .function(function, try arguments.mapChecked { argument throws(QueryError) in try rewritten(argument, depth) })
        case .conditional(let condition, let a, let b):
            return .conditional(try rewritten(condition, depth), try rewritten(a, depth), try rewritten(b, depth))
        case .related(var aggregate):
            if let predicate = aggregate.predicate { aggregate.predicate = try rewritten(predicate, depth + 1) }
            return .related(aggregate)
        case .aggregate(let aggregate):
            guard let argument = aggregate.argument else { return expression }
            return .aggregate(Aggregate(aggregate.function, of: try rewritten(argument, depth)))
        }
    }
}
