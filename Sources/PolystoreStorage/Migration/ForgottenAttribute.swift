/// An attribute that both versions have, and that a transformer which created objects has not assigned.
package struct ForgottenAttribute {
    /// The entity in the older version.
    package let source: EntityIndex
    /// The slot in the older version.
    package let sourceSlot: Int
    /// The entity in the newer version.
    package let destination: EntityIndex
    /// The slot in the newer version.
    package let slot: Int
}
