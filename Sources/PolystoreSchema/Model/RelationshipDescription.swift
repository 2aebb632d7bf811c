/// A relationship and the location of its keys.
public struct RelationshipDescription: Sendable, Hashable {
    /// The location of the keys of a relationship.
    public enum Place: Sendable, Hashable {
        /// In a slot of the owner's own row.
        case slot(Int)
        /// In a slot of the destination's rows, because the relationship is the inverse of a to-one relationship.
        case inverseSlot(Int)
        /// In a link table. `side` is the end at which the relationship's owner is.
        case link(Int, side: LinkSide)
        /// In a slot of the destination's rows for membership, and in a link table for the order.
        case orderedInverseSlot(Int, link: Int)
    }

    /// The declaration of the relationship.
    public let relationship: Relationship
    /// The destination entity.
    public let destination: EntityIndex
    /// The location of the keys.
    public let place: Place
    /// The entity that declares the relationship.
    public let declaredIn: EntityIndex
}
