internal import PolystoreSchema

extension QueryPredicate {
    /// The names of the variables whose constants are not yet given.
    public var variables: Set<String> {
        var names: Set<String> = []
        _ = contains { node, _ in node.addVariable(to: &names) }
        return names
    }

    /// Returns the predicate with constants in place of all its variables. Values for other names are ignored.
    ///
    /// - Throws: `QueryError` with a variable that has no value and the most similar name that has one, or with a variable whose value is
    ///   of the wrong kind: `IN` and `BETWEEN` need a list, `BEGINSWITH` and similar operators a text, all others a single value.
    public func substituting(_ values: [String: PredicateArgument]) throws(QueryError) -> QueryPredicate {
        var substitution = Substitution(values: values)
        return try substitution.rewritten(self, 0)
    }
}

extension QueryExpression {
    /// The names of the variables whose constants are not yet given.
    public var variables: Set<String> {
        var names: Set<String> = []
        _ = contains { node, _ in node.addVariable(to: &names) }
        return names
    }

    /// Returns the expression with constants in place of all its variables, as `QueryPredicate.substituting(_:)` does.
    public func substituting(_ values: [String: PredicateArgument]) throws(QueryError) -> QueryExpression {
        var substitution = Substitution(values: values)
        return try substitution.rewritten(self, 0)
    }
}

extension QueryNode {
    /// Adds the variable that the node itself names. Returns false, so that a search continues.
    fileprivate func addVariable(to names: inout Set<String>) -> Bool {
        if case .predicate(let predicate) = self, case .open(_, _, let name) = predicate.node { names.insert(name) }
        if case .expression(let expression) = self, case .variable(let name) = expression.node { names.insert(name) }
        return false
    }
}

/// Replaces variables by constants.
private struct Substitution: QueryRewriter {
    let values: [String: PredicateArgument]

    mutating func rewritten(_ predicate: QueryPredicate, _ depth: Int) throws(QueryError) -> QueryPredicate {
        guard case .open(let expression, let test, let name) = predicate.node else { return try rebuilt(predicate, depth) }
        return try closed(try rewritten(expression, depth), test, name)
    }

    mutating func rewritten(_ expression: QueryExpression, _ depth: Int) throws(QueryError) -> QueryExpression {
        guard case .variable(let name) = expression.node else { return try rebuilt(expression, depth) }
        guard case .value(let value) = try argument(name) else { throw wrong(name, "a single value") }
        return .value(value)
    }

    private func closed(_ expression: QueryExpression, _ test: OpenTest, _ name: String) throws(QueryError) -> QueryPredicate {
        switch (test, try argument(name)) {
        case (.isIn, .list(let list)): return .isIn(expression, list)
        case (.isIn, _): throw wrong(name, "a list")
        case (.between, .list(let list)) where list.count == 2: return .between(expression, .value(list[0]), .value(list[1]))
        case (.between, _): throw wrong(name, "a list of two values")
        case (.text(let match), .value(.string(let needle))): return .text(expression, match, needle)
        case (.text, _): throw wrong(name, "a string")
        }
    }

    private func argument(_ name: String) throws(QueryError) -> PredicateArgument {
        if let found = values[name] { return found }
        throw QueryError(path: "$" + name, "the variable $\(name.excerpt()) has no value\(Suggestion.nearest(name, in: values.keys))")
    }

    private func wrong(_ name: String, _ wanted: String) -> QueryError {
        QueryError(path: "$" + name, "the value of $\(name.excerpt()) must be \(wanted)")
    }
}
