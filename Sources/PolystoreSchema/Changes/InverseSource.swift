/// A new to-one relationship that is the inverse of an existing relationship. It is initially filled from the pairs of that relationship.
package struct InverseSource: Sendable, Hashable {
    /// The entity of the newer version that declares the relationship.
    package let entity: EntityIndex
    /// The slot of the relationship.
    package let slot: Int
    /// The source of the pairs. The owner of a pair is the object that has the slot.
    package let pairs: LinkSource
}
