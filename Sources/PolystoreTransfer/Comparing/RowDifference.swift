public import PolystoreStorage

/// A difference between the objects of two stores that have the same primary key.
public struct RowDifference: Sendable, Hashable {
    /// A property with different values.
    public struct Property: Sendable, Hashable {
        /// The name of the property.
        public let name: String
        /// The value in the first store. A reference is the primary key of its destination.
        public let first: Value
        /// The value in the second store.
        public let second: Value
    }

    /// The way in which the objects differ.
    public enum Kind: Sendable, Hashable {
        /// Only the first store has the object.
        case onlyInFirst
        /// Only the second store has the object.
        case onlyInSecond
        /// The objects belong to different sub-entities of one hierarchy.
        case entities(first: String, second: String)
        /// Some attributes or to-one relationships have different values.
        case properties([Property])
        /// The members of a to-many relationship that is kept in a link table differ, in their order if the relationship is ordered.
        case members(relationship: String, first: [Int64], second: [Int64])
    }

    /// The entity of the object, in the first store if both have it.
    public let entity: String
    /// The primary key.
    public let key: Int64
    /// The way in which the objects differ.
    public let kind: Kind
}
