/// The properties of an attribute type, apart from the text and storage forms of its values.
struct ValueTypeDescriptor: Sendable {
    /// A rule that a value must satisfy so that every store keeps it unchanged.
    enum Rule: Sendable {
        /// Every value is kept.
        case every
        /// The integer of its cell is in a range. The sentence refuses other values; nil names the type.
        case range(ClosedRange<Int64>, StaticString? = nil)
        /// A number that is not NaN. -0.0 becomes 0.
        case double
        /// A number in the range of `Float`, which is rounded to its digits.
        case float
        /// A number with the digits that decimals have.
        case decimal
        /// A text without U+0000.
        case text
        /// A text without U+0000 that is not empty.
        case textOfURL
    }

    /// The widest type whose values are the same case of `Value`.
    let base: ValueType
    /// The representation of a value in a `Cell`.
    let cell: CellKind
    /// The Swift type that generated classes declare.
    let swiftName: StaticString
    /// Whether Foundation declares the Swift type.
    var ofFoundation = false
    /// The noun for a value in error messages.
    let noun: StaticString
    /// The word before the quoted text of a constant in a predicate; nil for constants that need none.
    var keyword: StaticString?
    /// The rule that its values must satisfy.
    var rule = Rule.every
    /// The types that can represent every value exactly.
    var wider: @Sendable () -> [ValueType] = { [] }
    /// The byte that precedes a value in the preserved values of a deleted object.
    let tombstone: UInt8
}
