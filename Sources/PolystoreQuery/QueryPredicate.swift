public import PolystoreSchema

/// A condition on objects, with names not yet checked against a schema.
///
/// Logic is two-valued as in Swift: every predicate is true or false for every object, so a predicate and its negation partition all
/// objects. `PredicateEvaluator` defines the result of each case.
///
/// A predicate is at most `deepest` levels deep, however deep a program nests it. A deeper one discards its contents, records only that it
/// is too deep, and is refused when it is used. So no traversal of a predicate, including its release, needs more stack than that.
public struct QueryPredicate: Sendable, Hashable {
    /// The outermost level of a predicate.
    public indirect enum Node: Sendable, Hashable {
        /// True or false for every object.
        case constant(Bool)
        /// A comparison of two expressions.
        case compare(QueryExpression, Comparison, QueryExpression)
        /// Whether a value is in a list. Nil is in the list only if the list contains nil.
        case isIn(QueryExpression, [Value])
        /// Whether a value lies between two others, inclusive; false if one of the three is nil.
        case between(QueryExpression, QueryExpression, QueryExpression)
        /// Whether a text contains the needle at the position that the match requires, or matches it; false for nil. With options the text
        /// is `folded`, and so is the needle.
        case text(QueryExpression, TextMatch, String)
        /// An `OpenTest` with a list or a text that is given later, for a named variable.
        case open(QueryExpression, OpenTest, String)
        /// Whether the quantified number of the objects that the relationships reference, one of which is to-many, satisfies a condition.
        case related(Quantifier, PropertyPath, QueryPredicate)
        /// Whether the quantified number of the objects that the last to-many relationship in its key paths references satisfies a condition.
        /// The key paths begin at the object itself.
        case quantified(Quantifier, QueryPredicate)
        /// Whether the object belongs to an entity or one of its descendants.
        case isEntity(String)
        /// True if all parts are true, or if there are none.
        case and([QueryPredicate])
        /// True if at least one part is true; false without parts.
        case or([QueryPredicate])
        /// The negation.
        case not(QueryPredicate)
    }

    /// The maximum number of levels of a predicate, including those of its expressions.
    public static let deepest = 500

    /// The outermost level.
    public let node: Node
    /// The number of levels; one more than `deepest` for a predicate that is too deep.
    let depth: Int

    init(_ node: Node, below depth: Int = 0) {
        self.depth = min(depth, Self.deepest) + 1
        self.node = depth < Self.deepest ? node : .constant(false)
    }

    /// Whether it was nested too deeply and its contents were discarded.
    var isTooDeep: Bool { depth > Self.deepest }
}

extension QueryPredicate {
    /// Returns a condition that is true or false for every object.
    public static func constant(_ value: Bool) -> QueryPredicate { QueryPredicate(.constant(value)) }

    /// Returns a comparison of two expressions.
    public static func compare(_ a: QueryExpression, _ comparison: Comparison, _ b: QueryExpression) -> QueryPredicate {
        QueryPredicate(.compare(a, comparison, b), below: max(a.depth, b.depth))
    }

    /// Returns a condition for whether a value is in a list. Nil is in the list only if the list contains nil.
    public static func isIn(_ expression: QueryExpression, _ values: [Value]) -> QueryPredicate {
        QueryPredicate(.isIn(expression, values), below: expression.depth)
    }

    /// Returns a condition for whether a value lies between two others, inclusive; false if one of the three is nil.
    public static func between(_ expression: QueryExpression, _ low: QueryExpression, _ high: QueryExpression) -> QueryPredicate {
        QueryPredicate(.between(expression, low, high), below: max(expression.depth, low.depth, high.depth))
    }

    /// Returns a condition for whether a text contains the needle at the position that the match requires, or matches it; false for nil.
    /// With options the text is `folded`, and so is the needle.
    public static func text(_ expression: QueryExpression, _ match: TextMatch, _ needle: String) -> QueryPredicate {
        QueryPredicate(.text(expression, match, needle), below: expression.depth)
    }

    /// Returns a test with a list or a text that is given later, for a named variable.
    public static func open(_ expression: QueryExpression, _ test: OpenTest, _ variable: String) -> QueryPredicate {
        QueryPredicate(.open(expression, test, variable), below: expression.depth)
    }

    /// Returns a condition for whether the quantified number of the objects that the relationships reference, one of which is to-many,
    /// satisfies a condition.
    public static func related(_ quantifier: Quantifier, _ path: PropertyPath, _ condition: QueryPredicate) -> QueryPredicate {
        QueryPredicate(.related(quantifier, path, condition), below: condition.depth)
    }

    /// Returns a condition for whether the quantified number of the objects that the last to-many relationship in its key paths references
    /// satisfies a condition, such as `friends.owner.level > 3` for any friend. The key paths begin at the object itself. What follows the
    /// relationship is a path from each related object; a key path that does not begin with the relationship is one of the object.
    public static func quantified(_ quantifier: Quantifier, _ condition: QueryPredicate) -> QueryPredicate {
        QueryPredicate(.quantified(quantifier, condition), below: condition.depth)
    }

    /// Returns a condition for whether the object belongs to an entity or one of its descendants.
    public static func isEntity(_ name: String) -> QueryPredicate { QueryPredicate(.isEntity(name)) }

    /// Returns the conjunction of the parts; true without parts.
    public static func and(_ parts: [QueryPredicate]) -> QueryPredicate { QueryPredicate(.and(parts), below: parts.deepest) }

    /// Returns the disjunction of the parts; false without parts.
    public static func or(_ parts: [QueryPredicate]) -> QueryPredicate { QueryPredicate(.or(parts), below: parts.deepest) }

    /// Returns the negation.
    public static func not(_ part: QueryPredicate) -> QueryPredicate { QueryPredicate(.not(part), below: part.depth) }
}

extension [QueryPredicate] {
    fileprivate var deepest: Int { reduce(0) { Swift.max($0, $1.depth) } }
}

extension QueryPredicate {
    /// Returns the conjunction. Nested conjunctions are flattened.
    public static func && (a: QueryPredicate, b: QueryPredicate) -> QueryPredicate {
        func parts(_ side: QueryPredicate) -> [QueryPredicate] { if case .and(let parts) = side.node { parts } else { [side] } }
        return .and(parts(a) + parts(b))
    }

    /// Returns the disjunction. Nested disjunctions are flattened.
    public static func || (a: QueryPredicate, b: QueryPredicate) -> QueryPredicate {
        func parts(_ side: QueryPredicate) -> [QueryPredicate] { if case .or(let parts) = side.node { parts } else { [side] } }
        return .or(parts(a) + parts(b))
    }

    /// Returns the negation. A double negation is removed.
    public static prefix func ! (a: QueryPredicate) -> QueryPredicate { if case .not(let inner) = a.node { inner } else { .not(a) } }
}
