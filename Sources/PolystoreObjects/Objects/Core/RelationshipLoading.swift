internal import PolystoreStorage

/// The behavior of an access to a relationship that was not loaded.
public enum RelationshipLoading: Sendable {
    /// The relationship is loaded by a separate lookup.
    case lazy
    /// The access is the error `unplannedLoad`, so that tests detect lookups in loops. Load the relationship with `From.prefetch`.
    case strict
}
