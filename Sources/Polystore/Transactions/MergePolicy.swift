public import PolystoreStorage

/// What wins when an object that a detached transaction changed was changed by somebody else in the meantime.
public enum MergePolicy: Sendable {
    /// Nobody: the commit throws `staleObject` with base, mine and theirs of each object, and nothing is written.
    case error
    /// The values assigned here; attributes that were not assigned keep what the other wrote.
    case mine
    /// What the other wrote; the changes of that object here are forgotten.
    case theirs
    /// What a closure chooses for each attribute that both changed, of entity, attribute, base, mine and theirs. Attributes that only one
    /// of the two changed keep that change.
    case byAttribute(@Sendable (_ entity: String, _ attribute: String, _ base: Value, _ mine: Value, _ theirs: Value) -> Value)

    var isError: Bool { if case .error = self { true } else { false } }
}
