internal import PolystoreSchema

/// Replaces what a predicate refers to: properties of its own object, level 0, and of objects outside, from level 1 on.
struct ReferenceRewriter {
    let replacement: (Int, PropertyPath) throws(QueryError) -> (level: Int, path: PropertyPath)

    /// - Parameter depth: How many conditions on related objects the part is inside of: references to their objects stay.
    func rewritten(_ predicate: QueryPredicate, depth: Int = 0) throws(QueryError) -> QueryPredicate {
        switch predicate.node {
        case .constant: return predicate
        case .isEntity:
            if depth == 0, try own(.object) != .object {
                throw QueryError("the class of an object that a relationship leads to has no place in an expression")
            }
            return predicate
        case .compare(let a, let comparison, let b):
            return .compare(try rewritten(a, depth: depth), comparison, try rewritten(b, depth: depth))
        case .isIn(let expression, let values): return .isIn(try rewritten(expression, depth: depth), values)
        case .between(let expression, let low, let high):
            return .between(
                try rewritten(expression, depth: depth), try rewritten(low, depth: depth), try rewritten(high, depth: depth))
        case .text(let expression, let match, let needle): return .text(try rewritten(expression, depth: depth), match, needle)
        case .open(let expression, let test, let variable): return .open(try rewritten(expression, depth: depth), test, variable)
        case .related(let quantifier, let path, let inner):
            return .related(quantifier, depth == 0 ? try own(path) : path, try rewritten(inner, depth: depth + 1))
        case .and(let parts): return .and(try parts.mapChecked { part throws(QueryError) in try rewritten(part, depth: depth) })
        case .or(let parts): return .or(try parts.mapChecked { part throws(QueryError) in try rewritten(part, depth: depth) })
        case .not(let part): return .not(try rewritten(part, depth: depth))
        }
    }

    func rewritten(_ expression: QueryExpression, depth: Int = 0) throws(QueryError) -> QueryExpression {
        switch expression.node {
        case .path(let path): return try reference(0, path, depth)
        case .outer(let level, let path): return try reference(level, path, depth)
        case .value, .variable, .aggregate: return expression
        case .function(let function, let arguments):
            return .function(
                function, try arguments.mapChecked { argument throws(QueryError) in try rewritten(argument, depth: depth) })
        case .conditional(let condition, let a, let b):
            return .conditional(
                try rewritten(condition, depth: depth), try rewritten(a, depth: depth), try rewritten(b, depth: depth))
        case .related(var aggregate):
            if depth == 0 { aggregate.relationship = try own(aggregate.relationship) }
            if let predicate = aggregate.predicate { aggregate.predicate = try rewritten(predicate, depth: depth + 1) }
            return .related(aggregate)
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
        return try ReferenceRewriter { level, path throws(QueryError) in (level + levels, path) }.rewritten(self)
    }
}

extension QueryExpression {
    /// The expression as one of an object from which to-one relationships lead to its own.
    ///
    /// - Throws: `QueryError` where it looks at the class of its object.
    package func prefixed(by names: [String]) throws(QueryError) -> QueryExpression {
        try ReferenceRewriter { level, path throws(QueryError) in
            (level, level > 0 ? path : PropertyPath(path == .object ? names : names + path.names))
        }.rewritten(self)
    }
}

extension QueryPredicate {
    /// Whether an object outside of so many conditions around is looked at.
    func looksOutside(depth: Int = 0) -> Bool {
        switch node {
        case .constant, .isEntity: false
        case .compare(let a, _, let b): a.looksOutside(depth) || b.looksOutside(depth)
        case .isIn(let expression, _), .text(let expression, _, _), .open(let expression, _, _): expression.looksOutside(depth)
        case .between(let a, let b, let c): a.looksOutside(depth) || b.looksOutside(depth) || c.looksOutside(depth)
        case .related(_, _, let inner): inner.looksOutside(depth: depth + 1)
        case .and(let parts), .or(let parts): parts.contains { $0.looksOutside(depth: depth) }
        case .not(let part): part.looksOutside(depth: depth)
        }
    }
}

extension QueryExpression {
    fileprivate func looksOutside(_ depth: Int) -> Bool {
        switch node {
        case .outer(let level, _): level > depth
        case .path, .value, .variable, .aggregate: false
        case .function(_, let arguments): arguments.contains { $0.looksOutside(depth) }
        case .conditional(let condition, let a, let b):
            condition.looksOutside(depth: depth) || a.looksOutside(depth) || b.looksOutside(depth)
        case .related(let aggregate): aggregate.predicate?.looksOutside(depth: depth + 1) ?? false
        }
    }
}
