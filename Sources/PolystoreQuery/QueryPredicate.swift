public import PolystoreSchema

/// How two values are compared.
public enum Comparison: String, Sendable, Hashable, CaseIterable {
    /// The same, nil included.
    case equal = "=="
    /// Not the same; true where exactly one side is nil.
    case notEqual = "!="
    /// Smaller; false where a side is nil.
    case less = "<"
    /// Smaller or the same; false where a side is nil.
    case lessOrEqual = "<="
    /// Greater; false where a side is nil.
    case greater = ">"
    /// Greater or the same; false where a side is nil.
    case greaterOrEqual = ">="
}

/// How a text is looked at.
public enum TextMatch: String, Sendable, Hashable, CaseIterable {
    /// It begins with the needle.
    case beginsWith
    /// It ends with the needle.
    case endsWith
    /// It has the needle anywhere.
    case contains
    /// It is like a pattern as a whole: `*` stands for any run of characters, `?` for one Unicode scalar, `\` before them for themselves.
    case like
    /// It matches a regular expression as a whole.
    case matches
    /// It has the words that a `SearchQuery` asks for; case and diacritics never count.
    case search
}

/// How many related objects must satisfy a condition.
public enum Quantifier: String, Sendable, Hashable, CaseIterable {
    /// One or more.
    case any = "ANY"
    /// Every one; also where there is none.
    case all = "ALL"
    /// Not one.
    case none = "NONE"
}

/// What is asked of a value whose right side a variable stands for.
public enum OpenTest: Sendable, Hashable {
    /// Whether it is in a list.
    case isIn
    /// Whether it lies between the two values of a list.
    case between
    /// Whether it has a text in a place, or matches it.
    case text(TextMatch)
}

/// A condition on objects, with names not yet checked against a schema.
///
/// Logic is two-valued as in Swift: every predicate is true or false of every object, so a predicate and its negation divide all
/// objects. The meaning of each case is that of `PredicateEvaluator`.
///
/// A predicate is at most `deepest` levels deep, whatever a program nests: a deeper one keeps nothing but that it is too deep, and is
/// refused where it is used. So nothing that walks through a predicate, its release included, needs more stack than that.
public struct QueryPredicate: Sendable, Hashable {
    /// What a predicate says at its outermost level.
    public indirect enum Node: Sendable, Hashable {
        /// True or false of every object.
        case constant(Bool)
        /// A comparison of two expressions.
        case compare(QueryExpression, Comparison, QueryExpression)
        /// Whether a value is in a list; nil is in the list only if the list says so.
        case isIn(QueryExpression, [Value])
        /// Whether a value lies between two others, both included; false where one of the three is nil.
        case between(QueryExpression, QueryExpression, QueryExpression)
        /// Whether a text has the needle in a place, or matches it; false of nil. With options the text is `folded`, and the needle is too.
        case text(QueryExpression, TextMatch, String)
        /// Such a test with a list or a text that is given later, for a named variable.
        case open(QueryExpression, OpenTest, String)
        /// Whether so many of the objects that relationships lead to, one of them to-many, satisfy a condition on them.
        case related(Quantifier, PropertyPath, QueryPredicate)
        /// Whether the object is of an entity, or of one below it.
        case isEntity(String)
        /// True if all parts are; true without parts.
        case and([QueryPredicate])
        /// True if a part is; false without parts.
        case or([QueryPredicate])
        /// The opposite.
        case not(QueryPredicate)
    }

    /// The most levels of a predicate, those of its expressions included.
    public static let deepest = 500

    /// What it says.
    public let node: Node
    /// The number of levels; one more than `deepest` for what is too deep.
    let depth: Int

    init(_ node: Node, below depth: Int = 0) {
        self.depth = min(depth, Self.deepest) + 1
        self.node = depth < Self.deepest ? node : .constant(false)
    }

    /// Whether it was nested too deep to be kept.
    var isTooDeep: Bool { depth > Self.deepest }
}

extension QueryPredicate {
    /// True or false of every object.
    public static func constant(_ value: Bool) -> QueryPredicate { QueryPredicate(.constant(value)) }

    /// A comparison of two expressions.
    public static func compare(_ a: QueryExpression, _ comparison: Comparison, _ b: QueryExpression) -> QueryPredicate {
        QueryPredicate(.compare(a, comparison, b), below: max(a.depth, b.depth))
    }

    /// Whether a value is in a list; nil is in the list only if the list says so.
    public static func isIn(_ expression: QueryExpression, _ values: [Value]) -> QueryPredicate {
        QueryPredicate(.isIn(expression, values), below: expression.depth)
    }

    /// Whether a value lies between two others, both included; false where one of the three is nil.
    public static func between(_ expression: QueryExpression, _ low: QueryExpression, _ high: QueryExpression) -> QueryPredicate {
        QueryPredicate(.between(expression, low, high), below: max(expression.depth, low.depth, high.depth))
    }

    /// Whether a text has the needle in a place, or matches it; false of nil. With options the text is `folded`, and the needle is too.
    public static func text(_ expression: QueryExpression, _ match: TextMatch, _ needle: String) -> QueryPredicate {
        QueryPredicate(.text(expression, match, needle), below: expression.depth)
    }

    /// A test with a list or a text that is given later, for a named variable.
    public static func open(_ expression: QueryExpression, _ test: OpenTest, _ variable: String) -> QueryPredicate {
        QueryPredicate(.open(expression, test, variable), below: expression.depth)
    }

    /// Whether so many of the objects that relationships lead to, one of them to-many, satisfy a condition on them.
    public static func related(_ quantifier: Quantifier, _ path: PropertyPath, _ condition: QueryPredicate) -> QueryPredicate {
        QueryPredicate(.related(quantifier, path, condition), below: condition.depth)
    }

    /// Whether the object is of an entity, or of one below it.
    public static func isEntity(_ name: String) -> QueryPredicate { QueryPredicate(.isEntity(name)) }

    /// True if all parts are; true without parts.
    public static func and(_ parts: [QueryPredicate]) -> QueryPredicate { QueryPredicate(.and(parts), below: parts.deepest) }

    /// True if a part is; false without parts.
    public static func or(_ parts: [QueryPredicate]) -> QueryPredicate { QueryPredicate(.or(parts), below: parts.deepest) }

    /// The opposite.
    public static func not(_ part: QueryPredicate) -> QueryPredicate { QueryPredicate(.not(part), below: part.depth) }
}

extension [QueryPredicate] {
    fileprivate var deepest: Int { reduce(0) { Swift.max($0, $1.depth) } }
}

extension QueryPredicate {
    /// Both; nested conjunctions are flattened.
    public static func && (a: QueryPredicate, b: QueryPredicate) -> QueryPredicate {
        switch (a.node, b.node) {
        case (.and(let x), .and(let y)): .and(x + y)
        case (.and(let x), _): .and(x + [b])
        case (_, .and(let y)): .and([a] + y)
        default: .and([a, b])
        }
    }

    /// Either; nested disjunctions are flattened.
    public static func || (a: QueryPredicate, b: QueryPredicate) -> QueryPredicate {
        switch (a.node, b.node) {
        case (.or(let x), .or(let y)): .or(x + y)
        case (.or(let x), _): .or(x + [b])
        case (_, .or(let y)): .or([a] + y)
        default: .or([a, b])
        }
    }

    /// The opposite; that of an opposite is what it was made of.
    public static prefix func ! (a: QueryPredicate) -> QueryPredicate { if case .not(let inner) = a.node { inner } else { .not(a) } }
}
