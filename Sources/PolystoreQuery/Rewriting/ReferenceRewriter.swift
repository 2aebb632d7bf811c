internal import PolystoreSchema

/// Replaces what a predicate refers to: properties of its own object, level 0, and of objects outside, from level 1 on.
struct ReferenceRewriter: QueryRewriter {
    let replacement: (Int, PropertyPath) throws(QueryError) -> (level: Int, path: PropertyPath)

    mutating func rewritten(_ predicate: QueryPredicate, _ depth: Int) throws(QueryError) -> QueryPredicate {
        if depth == 0, case .isEntity = predicate.node, try own(.object) != .object {
            throw QueryError("the class of an object that a relationship leads to has no place in an expression")
        }
        guard depth == 0, case .related(let quantifier, let path, let inner) = predicate.node else { return try rebuilt(predicate, depth) }
        return .related(quantifier, try own(path), try rewritten(inner, depth + 1))
    }

    mutating func rewritten(_ expression: QueryExpression, _ depth: Int) throws(QueryError) -> QueryExpression {
        switch expression.node {
        case .path(let path): return try reference(0, path, depth)
        case .outer(let level, let path): return try reference(level, path, depth)
        case .related(var aggregate) where depth == 0:
            aggregate.relationship = try own(aggregate.relationship)
            return try rebuilt(.related(aggregate), depth)
        // An aggregate over a group is none of one object.
        case .aggregate: return expression
        case .value, .variable, .function, .conditional, .related: return try rebuilt(expression, depth)
        }
    }

    private func reference(_ level: Int, _ path: PropertyPath, _ depth: Int) throws(QueryError) -> QueryExpression {
        if level < depth { return .outer(level, path) }
        let found = try replacement(level - depth, path)
        return .outer(found.level + depth, found.path)
    }

    /// What is replaced by something of the object itself, or not at all.
    private func own(_ path: PropertyPath) throws(QueryError) -> PropertyPath {
        let found = try replacement(0, path)
        if found.level > 0 { throw Self.outside(found.path) }
        return found.path
    }

    /// Relationships and classes of objects outside have no place inside.
    static func outside(_ path: PropertyPath) -> QueryError {
        QueryError(
            path: path.description,
            "a condition on related objects looks at \(path) of an object outside, of which only single values have a place there")
    }
}

extension QueryExpression {
    /// The expression as one inside of conditions on related objects, so many of them farther in.
    ///
    /// - Throws: `QueryError` where it looks at a to-many relationship or at the class of the object: only single values are seen from
    ///   farther in.
    public func inside(_ levels: Int) throws(QueryError) -> QueryExpression {
        if levels == 0 { return self }
        var rewriter = ReferenceRewriter { level, path throws(QueryError) in (level + levels, path) }
        return try rewriter.rewritten(self, 0)
    }
}

extension QueryExpression {
    /// The expression as one of an object from which to-one relationships lead to its own.
    ///
    /// - Throws: `QueryError` where it looks at the class of its object.
    package func prefixed(by names: [String]) throws(QueryError) -> QueryExpression {
        var rewriter = ReferenceRewriter { level, path throws(QueryError) in
            (level, level > 0 ? path : PropertyPath(path == .object ? names : names + path.names))
        }
        return try rewriter.rewritten(self, 0)
    }
}

extension QueryPredicate {
    /// Whether an object outside of the condition is looked at.
    var looksOutside: Bool {
        contains { node, depth in
            if case .expression(let expression) = node, case .outer(let level, _) = expression.node { level > depth } else { false }
        }
    }
}
