internal import PolystoreStorage

/// The time at which a context applies committed changes.
public enum MergeTime: Sendable {
    /// Before each fetch, whenever `merge()` is called and, while there is an observer, soon after each commit.
    case automatic
    /// Only when `merge()` or `reset()` is called. Until then loaded objects do not change.
    case onDemand
}
