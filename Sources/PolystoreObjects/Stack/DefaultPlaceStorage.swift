public import PolystoreStorage

/// A store with a default location.
public protocol DefaultPlaceStorage: StorageInterface {
    /// Creates a store at the default location of the program.
    init() throws(StorageError)
}
