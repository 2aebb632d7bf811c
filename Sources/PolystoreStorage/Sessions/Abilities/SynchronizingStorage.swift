/// A store whose commits can return before they are on disk, depending on the options it was opened with (`Durability.relaxed`).
package protocol SynchronizingStorage: StorageInterface {
    /// Waits until all commits are on disk.
    ///
    /// *Behavior*: returns immediately if every commit waits for the disk.
    func synchronize() throws(StorageError)
}

extension OpenStore {
    /// Waits until all commits are on disk. Returns immediately without the ability, because every commit then waits for the disk.
    public func synchronize() throws(StorageError) { try ability((any SynchronizingStorage).self)?.synchronize() }
}
