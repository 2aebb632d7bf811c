internal import PolystoreSchema

extension QueryPredicate {
    /// The names of the variables that stand for constants still to be given.
    public var variables: Set<String> {
        switch node {
        case .constant, .isEntity: []
        case .compare(let a, _, let b): a.variables.union(b.variables)
        case .isIn(let expression, _), .text(let expression, _, _): expression.variables
        case .open(let expression, _, let name): expression.variables.union([name])
        case .between(let a, let b, let c): a.variables.union(b.variables).union(c.variables)
        case .related(_, _, let inner): inner.variables
        case .and(let parts), .or(let parts): parts.reduce(into: []) { $0.formUnion($1.variables) }
        case .not(let part): part.variables
        }
    }

    /// The predicate with constants in place of all its variables; what is given for others is not looked at.
    ///
    /// - Throws: `QueryError` naming a variable without a value and the nearest name that has one, or one whose value does not fit its place:
    ///   a list beside `IN` and `BETWEEN`, a text beside `BEGINSWITH` and its like, a single value elsewhere.
    public func substituting(_ values: [String: PredicateArgument]) throws(QueryError) -> QueryPredicate {
        try Substitution(values: values).applied(self)
    }
}

extension QueryExpression {
    /// The names of the variables that stand for constants still to be given.
    public var variables: Set<String> {
        switch node {
        case .variable(let name): [name]
        case .path, .outer, .value: []
        case .aggregate(let aggregate): aggregate.argument?.variables ?? []
        case .function(_, let arguments): arguments.reduce(into: []) { $0.formUnion($1.variables) }
        case .conditional(let condition, let a, let b): condition.variables.union(a.variables).union(b.variables)
        case .related(let aggregate): aggregate.predicate?.variables ?? []
        }
    }

    /// The expression with constants in place of all its variables, as `QueryPredicate.substituting(_:)` does it.
    public func substituting(_ values: [String: PredicateArgument]) throws(QueryError) -> QueryExpression {
        try Substitution(values: values).applied(self)
    }
}

/// Puts constants in place of variables.
private struct Substitution {
    let values: [String: PredicateArgument]

    func applied(_ predicate: QueryPredicate) throws(QueryError) -> QueryPredicate {
        switch predicate.node {
        case .constant, .isEntity: return predicate
        case .compare(let a, let comparison, let b): return .compare(try applied(a), comparison, try applied(b))
        case .isIn(let expression, let list): return .isIn(try applied(expression), list)
        case .between(let a, let low, let high): return .between(try applied(a), try applied(low), try applied(high))
        case .text(let expression, let match, let needle): return .text(try applied(expression), match, needle)
        case .open(let expression, let test, let name): return try closed(try applied(expression), test, name)
        case .related(let quantifier, let path, let inner): return .related(quantifier, path, try applied(inner))
        case .and(let parts): return .and(try parts.mapChecked { part throws(QueryError) in try applied(part) })
        case .or(let parts): return .or(try parts.mapChecked { part throws(QueryError) in try applied(part) })
        case .not(let part): return .not(try applied(part))
        }
    }

    func applied(_ expression: QueryExpression) throws(QueryError) -> QueryExpression {
        switch expression.node {
        case .path, .outer, .value: return expression
        case .variable(let name):
            guard case .value(let value) = try argument(name) else { throw wrong(name, "a single value") }
            return .value(value)
        case .function(let function, let arguments):
            return .function(function, try arguments.mapChecked { argument throws(QueryError) in try applied(argument) })
        case .conditional(let condition, let a, let b): return .conditional(try applied(condition), try applied(a), try applied(b))
        case .related(var aggregate):
            if let predicate = aggregate.predicate { aggregate.predicate = try applied(predicate) }
            return .related(aggregate)
        case .aggregate(let aggregate):
            guard let argument = aggregate.argument else { return expression }
            return .aggregate(Aggregate(aggregate.function, of: try applied(argument)))
        }
    }

    private func closed(_ expression: QueryExpression, _ test: OpenTest, _ name: String) throws(QueryError) -> QueryPredicate {
        switch (test, try argument(name)) {
        case (.isIn, .list(let list)): return .isIn(expression, list)
        case (.isIn, _): throw wrong(name, "a list")
        case (.between, .list(let list)) where list.count == 2: return .between(expression, .value(list[0]), .value(list[1]))
        case (.between, _): throw wrong(name, "a list of two values")
        case (.text(let match), .value(.string(let needle))): return .text(expression, match, needle)
        case (.text, _): throw wrong(name, "a text")
        }
    }

    private func argument(_ name: String) throws(QueryError) -> PredicateArgument {
        if let found = values[name] { return found }
        throw QueryError(path: "$" + name, "no value is given for $\(name.excerpt())\(Suggestion.nearest(name, in: values.keys))")
    }

    private func wrong(_ name: String, _ wanted: String) -> QueryError {
        QueryError(path: "$" + name, "what is given for $\(name.excerpt()) must be \(wanted)")
    }
}
