/// A store whose commits can return before they are on the disk, as it was opened (`Durability.relaxed`).
public protocol SynchronizingStorage: StorageInterface {
    /// Waits until everything that was committed is on the disk.
    ///
    /// *Behavior*: returns at once where every commit waits by itself.
    func synchronize() throws(StorageError)
}

extension OpenStore {
    /// Waits until everything that was committed is on the disk; without the ability every commit waits by itself.
    public func synchronize() throws(StorageError) { try ability((any SynchronizingStorage).self)?.synchronize() }
}
