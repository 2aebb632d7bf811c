internal import PolystoreSchema

/// Collects the key paths of a condition's own object.
struct KeyPathCollector: QueryRewriter {
    /// A key path.
    struct KeyPath {
        /// The names of the relationships and of the property.
        let names: [String]
        /// The number of its to-many relationships, counted from the end, that belong to parts of the condition: to an aggregate, or to
        /// conditions on related objects.
        let inner: Int
        /// Whether the last name is a relationship of an aggregate or of a condition on related objects.
        let isCollection: Bool
    }

    private var found: [KeyPath] = []
    /// The number of conditions with a quantifier around a part.
    private var quantifiers = 0

    private init() {}

    /// Returns the key paths, in their order.
    static func keyPaths(_ condition: QueryPredicate) throws(QueryError) -> [KeyPath] {
        var collector = KeyPathCollector()
        _ = try collector.rewritten(condition, 0)
        return collector.found
    }

    mutating func rewritten(_ predicate: QueryPredicate, _ depth: Int) throws(QueryError) -> QueryPredicate {
        if depth == 0, case .related(_, let path, _) = predicate.node { add(path, isCollection: true) }
        guard depth == 0, case .quantified = predicate.node else { return try rebuilt(predicate, depth) }
        quantifiers += 1
        defer { quantifiers -= 1 }
        return try rebuilt(predicate, depth)
    }

    mutating func rewritten(_ expression: QueryExpression, _ depth: Int) throws(QueryError) -> QueryExpression {
        if depth == 0, case .path(let path) = expression.node { add(path, isCollection: false) }
        if depth == 0, case .related(let aggregate) = expression.node { add(aggregate.relationship, isCollection: true) }
        return try rebuilt(expression, depth)
    }

    private mutating func add(_ path: PropertyPath, isCollection: Bool) {
        found.append(KeyPath(names: path.names, inner: quantifiers + (isCollection ? 1 : 0), isCollection: isCollection))
    }
}
