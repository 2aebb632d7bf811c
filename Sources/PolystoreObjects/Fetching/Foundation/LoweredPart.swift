internal import PolystoreStorage

/// The translation of a part of a Foundation predicate. Its use determines the further conversion.
enum LoweredPart {
    /// A value for each object.
    case value(LoweredValue)
    /// A condition.
    case condition(LoweredCondition)
    /// A condition that is nil if a required value is nil.
    case optionalCondition(OptionalCondition)
    /// The object itself, or the destination of to-one relationships.
    case object(LoweredPlace)
    /// The destinations of relationships that satisfy a condition.
    case objects(LoweredPlace, QueryPredicate?)
    /// The values between two bounds. A nil bound is absent.
    case range(LoweredValue?, LoweredValue?, includesUpper: Bool)
    /// A captured value whose use is not known yet; nil for nil.
    case constant(Any?)
}
