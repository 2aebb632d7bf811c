/// A store that reports changes that others make to the same data (capability `remoteChanges`).
public protocol ChangeNotifyingStorage: StorageInterface {
    /// Reports changes that others make to the same data.
    ///
    /// *Behavior*: the handler is called on a thread of the store, one call at a time; it must be short. Commits through this instance are
    /// not reported, or reported as `.history` at most. Several reports may become one; none is lost: a reader of the history after a
    /// report finds what caused it, at the latest when it has settled. While nothing happens a watch costs next to nothing.
    /// - Returns: The watch; nil where no other program can change the data.
    func watchChanges(_ handler: @escaping @Sendable (ChangeSignal) -> Void) throws(StorageError) -> (any ChangeWatch)?
}

extension OpenStore {
    /// Reports changes that others make to the same data; the handler is called on a thread of the store, one call at a time.
    ///
    /// - Returns: The watch; nil where no other program can change the data, or the store cannot tell.
    public func watchChanges(_ handler: @escaping @Sendable (ChangeSignal) -> Void) throws(StorageError) -> (any ChangeWatch)? {
        try checkOpen()
        return try notifying?.watchChanges(handler)
    }
}
