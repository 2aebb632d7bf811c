/// A change notification of a store about changes that were not made through it, but by another process, another machine, or another
/// instance at the same location.
public enum ChangeSignal: Sendable, Hashable {
    /// The history has, or is about to have, entries of other writers. Read it from the last known token.
    case history
    /// Data changed in a way that the history does not record, such as rows written by another program or a bulk load, or notifications may
    /// have been lost. Read all known data again, and the history as well.
    case unknown
}
