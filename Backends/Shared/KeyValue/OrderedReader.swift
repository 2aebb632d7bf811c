public import PolystoreStorage

/// A snapshot of the maps, or the maps of a write transaction.
public protocol OrderedReader: AnyObject {
    /// Returns the value of a key. It is valid until the next change or the end of the session.
    func get(_ map: Int, _ key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer?

    /// Returns a cursor that is positioned before the first pair of a map. Whether a cursor of a write transaction sees pairs that change
    /// after it was made is up to the engine.
    func cursor(_ map: Int) throws(StorageError) -> any OrderedCursor

    /// Returns the number of pairs in a map.
    func count(_ map: Int) throws(StorageError) -> Int

    /// Ends the session. A write transaction that did not commit is rolled back.
    func end()
}
