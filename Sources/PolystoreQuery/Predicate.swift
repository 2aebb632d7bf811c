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

/// Where a text is looked for.
public enum TextMatch: String, Sendable, Hashable, CaseIterable {
    /// At the beginning.
    case beginsWith
    /// At the end.
    case endsWith
    /// Anywhere.
    case contains
}

/// What can stand on either side of a comparison.
public enum Expression: Sendable, Hashable {
    /// The value of a property.
    case path(PropertyPath)
    /// A constant.
    case value(Value)
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
    /// Whether a property's value is in a list; nil is in the list only if the list says so.
    case isIn(PropertyPath, [Value])
    /// Whether a property's value lies between two values, both included; false of nil.
    case between(PropertyPath, Value, Value)
    /// Whether a property's text has the needle in a place, byte by byte; false of nil.
    case text(PropertyPath, TextMatch, String)
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
