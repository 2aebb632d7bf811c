package import PolystoreStorage

/// A value that is bound to a statement.
package enum SQLBinding: Sendable, Hashable {
    /// A single value of a type.
    case value(Value, ValueType)
    /// A list of values of a type, none of them nil, as one binding.
    case list([Value], ValueType)
}
