/// A store that reports changes that other processes make to the same data (capability `remoteChanges`).
public protocol ChangeNotifyingStorage: StorageInterface {
    /// Starts to report changes that other processes make to the same data.
    ///
    /// *Behavior*: the handler is called on a thread of the store, one call at a time, and must be short. Commits through this instance are
    /// not reported, or at most as `.history`. Several reports may be combined into one, but none is lost: a client that reads the history
    /// after a report finds its cause, at the latest once that entry has settled (`UnsettledHistoryReader`). An idle watch costs next to
    /// nothing.
    /// - Returns: The watch, or nil if no other program can change the data.
    func watchChanges(_ handler: @escaping @Sendable (ChangeSignal) -> Void) throws(StorageError) -> (any ChangeWatch)?
}

extension OpenStore {
    /// Starts to report changes that other processes make to the same data. The handler is called on a thread of the store, one call at a
    /// time.
    ///
    /// - Returns: The watch, or nil if no other program can change the data or the store cannot report changes.
    public func watchChanges(_ handler: @escaping @Sendable (ChangeSignal) -> Void) throws(StorageError) -> (any ChangeWatch)? {
        try checkOpen()
        return try notifying?.watchChanges(handler)
    }
}
