/// A column of the table of a hierarchy.
public struct Column: Sendable, Hashable {
    /// The name of the column in the table: that of the property, or `Entity.property` if several subentities have a property of that name.
    public let name: String
    /// The type of the values, which is `.int64` for the key of a to-one relationship.
    public let type: ValueType
    /// Whether the column contains the key of a to-one relationship.
    public let isReference: Bool
}
