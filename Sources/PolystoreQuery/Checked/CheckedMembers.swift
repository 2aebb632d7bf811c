public import PolystoreSchema

/// The objects that relationships of a row reference and that satisfy a condition.
public struct CheckedMembers: Sendable, Hashable {
    /// One relationship of the path.
    public enum Hop: Sendable, Hashable {
        /// A to-one relationship.
        case toOne(CheckedPath.Step)
        /// The to-many relationship at a position of an entity's relationships, and its destination entity.
        case toMany(EntityIndex, Int, destination: EntityIndex)
    }

    /// The relationships, outermost first; at least one is to-many.
    public let hops: [Hop]
    /// The entity at the end.
    public let destination: EntityIndex
    /// The condition on the objects at the end.
    public let predicate: CheckedPredicate
    /// The relationships as the request wrote them, for messages.
    public let text: String

    /// Creates members from their parts.
    public init(hops: [Hop], destination: EntityIndex, predicate: CheckedPredicate, text: String) {
        self.hops = hops
        self.destination = destination
        self.predicate = predicate
        self.text = text
    }
}
