/// The properties of an attribute type, apart from the text and storage forms of its values.
struct ValueTypeDescriptor: Sendable {
    /// The kind of its values.
    let kind: ValueKind
    /// The representation of a value in a `Cell`.
    let cell: CellKind
    /// The Swift type that generated classes declare.
    let swiftName: StaticString
    /// The numbers that are values of a type of whole numbers; all for other types.
    var range = Int64.min...Int64.max
}
