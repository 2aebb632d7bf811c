/// A change notification of a store about changes that were not made through it, but by another process, another machine, or another
/// instance at the same location.
public enum ChangeSignal: Sendable, Hashable {
    /// The history has, or is about to have, entries of other writers. Read it from the last known token.
    case history
    /// Data changed in a way that the history does not record, such as rows written by another program or a bulk load, or notifications may
    /// have been lost. Read all known data again, and the history as well.
    case unknown
}

/// A watch for changes by other writers. It ends when it is released.
public protocol ChangeWatch: AnyObject, Sendable {
    /// Ends the watch. After the return no notification is delivered. A second call does nothing.
    func cancel()
}
