/// A table of pairs (owner, rank, member) for a many-to-many relationship, a to-many relationship without an inverse, or an ordered to-many
/// relationship.
public struct LinkDescription: Sendable, Hashable {
    /// A name that is unique in the schema: `Entity.relationship` of the owner.
    public let name: String
    /// The entity that owns the pairs.
    public let owner: EntityIndex
    /// The name of the owner's relationship.
    public let ownerRelationship: String
    /// The entity at the other end.
    public let member: EntityIndex
    /// The name of the inverse relationship, or nil if there is none.
    public let memberRelationship: String?
    /// Whether the rank is part of the data. Otherwise it is 0.
    public let isOrdered: Bool
}
