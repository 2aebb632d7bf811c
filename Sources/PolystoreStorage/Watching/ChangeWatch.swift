/// What a store says about changes that were not made through it: by another process, another machine, or another instance on the same
/// place.
public enum ChangeSignal: Sendable, Hashable {
    /// The history has, or is about to have, entries of others; it is to be read from the last known token on.
    case history
    /// Something changed that the history does not name, such as rows written by another program or a bulk load, or signals may have been
    /// lost; whatever is known of the data is to be read again, and the history too.
    case unknown
}

/// A watch over the changes of others, for as long as it is held.
public protocol ChangeWatch: AnyObject, Sendable {
    /// Ends the watch. Nothing is signalled after the return; a second call does nothing.
    func cancel()
}
