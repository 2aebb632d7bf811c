internal import PolystoreSchema

extension QueryPredicate {
    /// The names of the variables that stand for constants still to be given.
    public var variables: Set<String> {
        var names: Set<String> = []
        _ = contains { node, _ in node.addVariable(to: &names) }
        return names
    }

    /// The predicate with constants in place of all its variables; what is given for others is not looked at.
    ///
    /// - Throws: `QueryError` naming a variable without a value and the nearest name that has one, or one whose value does not fit its place:
    ///   a list beside `IN` and `BETWEEN`, a text beside `BEGINSWITH` and its like, a single value elsewhere.
    public func substituting(_ values: [String: PredicateArgument]) throws(QueryError) -> QueryPredicate {
        var substitution = Substitution(values: values)
        return try substitution.rewritten(self, 0)
    }
}

extension QueryExpression {
    /// The names of the variables that stand for constants still to be given.
    public var variables: Set<String> {
        var names: Set<String> = []
        _ = contains { node, _ in node.addVariable(to: &names) }
        return names
    }

    /// The expression with constants in place of all its variables, as `QueryPredicate.substituting(_:)` does it.
    public func substituting(_ values: [String: PredicateArgument]) throws(QueryError) -> QueryExpression {
        var substitution = Substitution(values: values)
        return try substitution.rewritten(self, 0)
    }
}

extension QueryNode {
    /// Adds the variable that the node itself names; false, so that a search goes on.
    fileprivate func addVariable(to names: inout Set<String>) -> Bool {
        if case .predicate(let predicate) = self, case .open(_, _, let name) = predicate.node { names.insert(name) }
        if case .expression(let expression) = self, case .variable(let name) = expression.node { names.insert(name) }
        return false
    }
}

/// Puts constants in place of variables.
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
