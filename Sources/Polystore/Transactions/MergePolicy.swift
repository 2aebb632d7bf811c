public import PolystoreStorage

/// What wins when an object that a detached transaction changed was changed by another transaction in the meantime.
///
/// Relationships keep their inverses: both ends lead to what the policy chooses, and an object that another one takes loses its former
/// partner. A reference to an object that the other deleted becomes nil with every policy, and a member that it took out of an ordered
/// to-many is not put back by a new order. Members that were added to or removed from a many-to-many are no conflict: both changes are kept.
public enum MergePolicy: Sendable {
    /// Nobody: the commit throws `staleObject` with base, mine and theirs of each object, and nothing is written.
    case error
    /// The values assigned here; attributes that were not assigned keep what the other wrote. Deletions here follow their delete rules for
    /// objects that refer to the deleted one since.
    case mine
    /// What the other wrote; the changes of that object here are forgotten. So is its deletion, also where the other has only made objects
    /// refer to it.
    case theirs
    /// What a closure chooses for each attribute that both changed, of entity, attribute, base, mine and theirs. Attributes that only one
    /// of the two changed keep that change.
    case byAttribute(@Sendable (_ entity: String, _ attribute: String, _ base: Value, _ mine: Value, _ theirs: Value) -> Value)

    var isError: Bool { if case .error = self { true } else { false } }
}
