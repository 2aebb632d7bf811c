/// A store that can look for damage in all of what it keeps. It takes about as long as reading everything.
public protocol CheckedStorage: StorageInterface {
    /// Looks for damage.
    ///
    /// *Requires*: the store is open.
    ///
    /// *Behavior*: `corrupted` when something breaks the format, names the first such thing and no value.
    func check() throws(StorageError)
}
