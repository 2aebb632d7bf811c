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

/// A condition on objects, with names not yet checked against a schema.
///
/// Logic is two-valued as in Swift: every predicate is true or false of every object, so a predicate and its negation divide all
/// objects. The meaning of each case is that of `PredicateEvaluator`.
public indirect enum Predicate: Sendable, Hashable {
    /// True or false of every object.
    case constant(Bool)
    /// A comparison of two expressions.
    case compare(Expression, Comparison, Expression)
    /// Whether a value is in a list; nil is in the list only if the list says so.
    case isIn(Expression, [Value])
    /// Whether a value lies between two others, both included; false where one of the three is nil.
    case between(Expression, Expression, Expression)
    /// Whether a text has the needle in a place, or matches it; false of nil. With options the text is `folded`, and the needle is too.
    case text(Expression, TextMatch, String)
    /// Whether so many of the objects that relationships lead to, one of them to-many, satisfy a condition on them.
    case related(Quantifier, PropertyPath, Predicate)
    /// Whether the object is of an entity, or of one below it.
    case isEntity(String)
    /// True if all parts are; true without parts.
    case and([Predicate])
    /// True if a part is; false without parts.
    case or([Predicate])
    /// The opposite.
    case not(Predicate)
}

extension Predicate {
    /// Both; nested conjunctions are flattened.
    public static func && (a: Predicate, b: Predicate) -> Predicate {
        switch (a, b) {
        case (.and(let x), .and(let y)): .and(x + y)
        case (.and(let x), _): .and(x + [b])
        case (_, .and(let y)): .and([a] + y)
        default: .and([a, b])
        }
    }

    /// Either; nested disjunctions are flattened.
    public static func || (a: Predicate, b: Predicate) -> Predicate {
        switch (a, b) {
        case (.or(let x), .or(let y)): .or(x + y)
        case (.or(let x), _): .or(x + [b])
        case (_, .or(let y)): .or([a] + y)
        default: .or([a, b])
        }
    }

    /// The opposite; that of an opposite is what it was made of.
    public static prefix func ! (a: Predicate) -> Predicate { if case .not(let inner) = a { inner } else { .not(a) } }
}

extension Predicate {
    /// The predicate about another object: its key paths replaced, except those inside of conditions on related objects.
    func rebased(_ path: (PropertyPath) -> PropertyPath) -> Predicate {
        switch self {
        case .constant, .isEntity: self
        case .compare(let a, let comparison, let b): .compare(a.rebased(path), comparison, b.rebased(path))
        case .isIn(let expression, let values): .isIn(expression.rebased(path), values)
        case .between(let a, let low, let high): .between(a.rebased(path), low.rebased(path), high.rebased(path))
        case .text(let expression, let match, let needle): .text(expression.rebased(path), match, needle)
        case .related(let quantifier, let relationship, let inner): .related(quantifier, path(relationship), inner)
        case .and(let parts): .and(parts.map { $0.rebased(path) })
        case .or(let parts): .or(parts.map { $0.rebased(path) })
        case .not(let part): .not(part.rebased(path))
        }
    }
}

extension Expression {
    func rebased(_ path: (PropertyPath) -> PropertyPath) -> Expression {
        switch self {
        case .path(let own): return .path(path(own))
        case .value, .aggregate: return self
        case .function(let function, let arguments): return .function(function, arguments.map { $0.rebased(path) })
        case .conditional(let condition, let a, let b): return .conditional(condition.rebased(path), a.rebased(path), b.rebased(path))
        case .related(var aggregate):
            aggregate.relationship = path(aggregate.relationship)
            return .related(aggregate)
        }
    }
}
