public import PolystoreStorage

/// A cursor over the pairs of a map.
public protocol OrderedCursor: AnyObject {
    /// Moves to the first pair whose key is not below `key`. Returns false when there is none.
    func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool

    /// Moves to the next pair, or to the first pair at the beginning. Returns false at the end.
    func next() throws(StorageError) -> Bool

    /// Moves to the previous pair. Returns false at the beginning.
    func previous() throws(StorageError) -> Bool

    /// Moves to the last pair. Returns false when the map is empty.
    func last() throws(StorageError) -> Bool

    /// The key of the current pair, valid until the cursor moves or the map changes.
    var key: UnsafeRawBufferPointer { get }

    /// The value of the current pair, valid until the cursor moves or the map changes.
    var value: UnsafeRawBufferPointer { get }
}
