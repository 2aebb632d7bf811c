/// A unique constraint over slots.
public struct ResolvedConstraint: Sendable, Hashable {
    /// The entity that declares the constraint, which applies to that entity's whole family.
    public let declaredIn: EntityIndex
    /// The slots, which are the same in every member of the family.
    public let slots: [Int]
    /// The name of the constraint, such as `Person(email)`.
    public let name: String
}
