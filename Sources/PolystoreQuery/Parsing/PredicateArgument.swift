internal import PolystoreFoundation
public import PolystoreSchema

/// The argument of a placeholder in a predicate's text.
public enum PredicateArgument: Sendable, Hashable {
    /// A constant, for `%@`, `%d`, `%f` and similar placeholders.
    case value(Value)
    /// Constants, for `IN %@` and `BETWEEN %@`.
    case list([Value])
    /// A key path, for `%K`.
    case path(PropertyPath)
}
