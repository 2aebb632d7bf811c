/// A store that can check all its data for damage. A check takes about as long as reading everything.
public protocol CheckedStorage: StorageInterface {
    /// Checks the store for damage.
    ///
    /// *Requires*: the store is open.
    ///
    /// *Behavior*: throws `corrupted` if something violates the format. The message names the first violation and no value.
    func check() throws(StorageError)
}
