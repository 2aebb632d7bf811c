/// A stored property of an entity, with its position in rows and objects.
public struct Slot: Sendable, Hashable {
    /// The content of a slot.
    public enum Content: Sendable, Hashable {
        /// An attribute.
        case attribute(Attribute)
        /// The primary key of a to-one relationship's destination, in the hierarchy of the entity at `destination`.
        case toOne(Relationship, destination: EntityIndex)
    }

    /// The stored name of the property.
    public let name: String
    /// The content of the slot.
    public let content: Content
    /// The position of the column in the table of the hierarchy (`EntityDescription.columns` of the root).
    public let column: Int
    /// The entity that declares the property.
    public let declaredIn: EntityIndex

    /// The representation of the value in a cell.
    public var cellKind: CellKind {
        switch content {
        case .attribute(let attribute): attribute.type.cellKind
        case .toOne: .int
        }
    }

    /// The attribute, or nil for a relationship.
    public var attribute: Attribute? { if case .attribute(let attribute) = content { attribute } else { nil } }

    /// The type of the value: that of the attribute, or `.int64` for the key of a relationship.
    public var type: ValueType { attribute?.type ?? .int64 }

    /// The destination entity of a to-one relationship, or nil for an attribute.
    public var destination: EntityIndex? { if case .toOne(_, let destination) = content { destination } else { nil } }
}
