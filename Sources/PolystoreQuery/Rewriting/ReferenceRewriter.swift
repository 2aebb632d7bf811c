internal import PolystoreSchema

/// Replaces the properties that a predicate refers to: those of its own object, level 0, and of outer objects, from level 1 on.
struct ReferenceRewriter: QueryRewriter {
    let replacement: (Int, PropertyPath) throws(QueryError) -> (level: Int, path: PropertyPath)

    mutating func rewritten(_ predicate: QueryPredicate, _ depth: Int) throws(QueryError) -> QueryPredicate {
        if depth == 0, case .isEntity = predicate.node, try own(.object) != .object {
            throw QueryError("ISA on an object of a relationship is not allowed in an expression")
        }
        if depth == 0, case .quantified(_, let inner) = predicate.node {
            let result = try rebuilt(predicate, depth)
            if !result.readsPath, let path = try KeyPathCollector.keyPaths(inner).first { throw Self.outside(PropertyPath(path.names)) }
            return result
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
        // An aggregate over a group does not belong to one object.
        case .aggregate: return expression
        case .value, .variable, .function, .conditional, .related: return try rebuilt(expression, depth)
        }
    }

    private func reference(_ level: Int, _ path: PropertyPath, _ depth: Int) throws(QueryError) -> QueryExpression {
        if level < depth { return .outer(level, path) }
        let found = try replacement(level - depth, path)
        return .outer(found.level + depth, found.path)
    }

    /// Returns the replacement of a path, which must be a path of the object itself.
    private func own(_ path: PropertyPath) throws(QueryError) -> PropertyPath {
        let found = try replacement(0, path)
        // The related object itself is no relationship: a relationship of the outer object is meant.
        if found.level > 0 || found.path == .object && path != .object { throw Self.outside(path) }
        return found.path
    }

    /// Returns the error for relationships and classes of outer objects, which are invalid inside a condition.
    static func outside(_ path: PropertyPath) -> QueryError {
        QueryError(
            path: path.description,
            "a condition on related objects refers to \(path) of an outer object, but only single values of outer objects are allowed there"
        )
    }
}

extension QueryExpression {
    /// Returns the expression for use inside the given number of nested conditions on related objects.
    ///
    /// - Throws: `QueryError` if it reads a to-many relationship or the class of the object. Nested conditions can read only single values.
    public func inside(_ levels: Int) throws(QueryError) -> QueryExpression {
        if levels == 0 { return self }
        var rewriter = ReferenceRewriter { level, path throws(QueryError) in (level + levels, path) }
        return try rewriter.rewritten(self, 0)
    }
}

extension QueryExpression {
    /// Returns the expression for an object whose to-one relationships reference the expression's own object.
    ///
    /// - Throws: `QueryError` if it reads the class of its object.
    package func prefixed(by names: [String]) throws(QueryError) -> QueryExpression {
        var rewriter = ReferenceRewriter { level, path throws(QueryError) in
            (level, level > 0 ? path : PropertyPath(path == .object ? names : names + path.names))
        }
        return try rewriter.rewritten(self, 0)
    }
}

extension QueryPredicate {
    /// Whether the condition reads a property of its object, also in conditions on related objects.
    var readsPath: Bool {
        contains { node, depth in
            switch node {
            case .expression(let expression):
                if case .path = expression.node { depth == 0 } else if case .related = expression.node { depth == 0 } else { false }
            case .predicate(let predicate): if case .related = predicate.node { depth == 0 } else { false }
            }
        }
    }

    /// Whether the condition reads an object outside of it.
    var looksOutside: Bool {
        contains { node, depth in
            if case .expression(let expression) = node, case .outer(let level, _) = expression.node { level > depth } else { false }
        }
    }
}
