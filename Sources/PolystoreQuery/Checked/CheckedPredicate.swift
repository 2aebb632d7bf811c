public import PolystoreSchema

/// A predicate that was checked against a schema and normalised, as stores receive it.
///
/// - Names are slots; constants have the exact type of the property that they are compared with (a comparison with a constant of
///   another numeric type has been turned into bounds of the property's type, or into `constant`).
/// - An object is represented by the text of its URI until `FetchPlan.bound` replaces it by the key that the object has in the queried
///   store.
/// - `compare` never has a property and nil: `== nil` is `isNil`, `!= nil` is `not(isNil)`. A property that is compared with a constant is
///   on the left, and the constant is of its type.
/// - `isIn` has at least one value of the expression's type, none of them nil, each once, in ascending order.
/// - `and` and `or` have at least two parts, none of them constant or of the same kind. The operand of `not` is never `not` or `constant`.
/// - The parts of `and` and `or` that can fail come after those that cannot. A part that can fail is evaluated only if those before it do not
///   decide the result.
/// - `text` never has an empty needle, nor a pattern for `like` that another kind of match could replace.
/// - `related` means "one or more"; "all" and "none" are expressed by `not`.
///
/// Each case is true or false, never unknown. Its result for nil is part of its definition.
///
/// Stores that answer a condition on a property alone by an index match `.path`: `.compare(.path(let path), .less, .value(let value, _))`.
public indirect enum CheckedPredicate: Sendable, Hashable {
    /// True or false for every row.
    case constant(Bool)
    /// Whether the value is nil, including if a relationship of the path is nil or dangling.
    case isNil(CheckedPath)
    /// Comparison of two expressions of comparable types: two nils are equal; one nil is not equal; the orders are false for nil. Two
    /// different numeric types are compared exactly.
    case compare(CheckedExpression, Comparison, CheckedExpression)
    /// Whether the value is in the list; false for nil.
    case isIn(CheckedExpression, [Value])
    /// Whether the text contains the needle at the position that the match requires, by bytes, or matches it; false for nil.
    case text(CheckedExpression, TextMatch, ExactText)
    /// Whether at least one related object satisfies a condition.
    case related(CheckedMembers)
    /// Whether the row's own entity is one of these.
    case isEntity([EntityIndex])
    /// True if all parts are true.
    case and([CheckedPredicate])
    /// True if at least one part is true.
    case or([CheckedPredicate])
    /// The negation.
    case not(CheckedPredicate)
}

extension CheckedPredicate {
    /// Returns the comparison of a property with a constant of its type that is not nil.
    public static func compare(_ path: CheckedPath, _ comparison: Comparison, _ constant: Value) -> CheckedPredicate {
        .compare(.path(path), comparison, .value(constant, path.type))
    }
}
