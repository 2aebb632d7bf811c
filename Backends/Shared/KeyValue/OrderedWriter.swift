public import PolystoreStorage

/// The maps of a write transaction.
public protocol OrderedWriter: OrderedReader {
    /// Sets the value of a key.
    func put(_ map: Int, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StorageError)

    /// Reserves space for the value of a key that is greater than all keys of the map. The caller fills it before its next call.
    func append(_ map: Int, _ key: UnsafeRawBufferPointer, _ count: Int) throws(StorageError) -> UnsafeMutableRawPointer

    /// Reserves space for the value of a key that is not in the map. The caller fills it before its next call.
    func reserve(_ map: Int, _ key: UnsafeRawBufferPointer, _ count: Int) throws(StorageError) -> UnsafeMutableRawPointer

    /// Returns the row key of the last pair, or nil when the map is empty.
    func lastKey(_ map: Int) throws(StorageError) -> Int64?

    /// Removes a key. Returns false if the map does not contain it.
    func delete(_ map: Int, _ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool

    /// Removes all pairs from a map.
    func clear(_ map: Int) throws(StorageError)

    /// Creates a savepoint; savepoints nest.
    func savepoint() throws(StorageError)

    /// Rolls back to the innermost savepoint and removes it.
    func undoSavepoint() throws(StorageError)

    /// Keeps all changes since the innermost savepoint and removes it.
    func keepSavepoint() throws(StorageError)

    /// The number of the transaction, unique in the store, by which the outcome of its commit can be found later; nil if a commit that
    /// throws has certainly changed nothing.
    var commitNumber: Int64? { get }

    /// Commits the transaction.
    ///
    /// *Behavior*: throws `commitOutcomeUnknown` when it is not certain that none of the changes will be in the store.
    func commit() throws(StorageError)
}
