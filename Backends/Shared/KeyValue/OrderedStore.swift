public import PolystoreStorage

/// An engine of ordered maps from bytes to bytes: what a key-value store has to give for the kit to make a store of it.
///
/// Keys are ordered byte by byte, the shorter first on a tie. A session is used by one thread at a time.
public protocol OrderedStore: AnyObject, Sendable {
    /// The most bytes of a key.
    var maximumKeyBytes: Int { get }

    /// The most bytes of a value.
    var maximumValueBytes: Int { get }

    /// Whether records carry a checksum: what left the memory of the process may come back changed.
    var checksRecords: Bool { get }

    /// Opens the engine with maps of these names, making those that are missing; nil opens only what is there.
    ///
    /// - Returns: Whether the place existed before.
    func open(_ request: OrderedOpen) throws(StorageError) -> Bool

    /// Makes maps available, creating those that are missing.
    ///
    /// - Returns: The number of each map, by its name, by which sessions know it that begin later.
    @discardableResult
    func prepare(maps: [String]) throws(StorageError) -> [String: Int]

    /// Gets ready for another set of so many maps, as when the model has another version. An engine may forget the numbers of its maps.
    ///
    /// - Throws: `busy` when sessions are open.
    func reopen(mapCount: Int) throws(StorageError)

    /// Removes maps that are empty; ones that are not there are left out.
    func remove(maps: [String]) throws(StorageError)

    /// One snapshot.
    func read(_ options: ReadOptions) throws(StorageError) -> any OrderedReader

    /// The write transaction; the kit sees to it that there is one at a time in this process.
    ///
    /// *Behavior*: other processes are waited for up to the timeout (`busy`), and until the limit of the options ends.
    func write(_ options: WriteOptions) throws(StorageError) -> any OrderedWriter

    /// Closes the engine.
    func close()
}

/// How an engine is opened.
public struct OrderedOpen: Sendable {
    /// Whether a missing place is made.
    public var create: Bool
    /// Whether changes are refused.
    public var readOnly: Bool
    /// The number of maps that there will be.
    public var mapCount: Int

    /// A request.
    public init(create: Bool, readOnly: Bool, mapCount: Int) {
        self.create = create
        self.readOnly = readOnly
        self.mapCount = mapCount
    }
}

/// A snapshot of the maps, or the maps of a write transaction.
public protocol OrderedReader: AnyObject {
    /// The value of a key; valid until the next change or the end of the session.
    func get(_ map: Int, _ key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer?

    /// A cursor before the first pair of a map.
    func cursor(_ map: Int) throws(StorageError) -> any OrderedCursor

    /// The number of pairs of a map.
    func count(_ map: Int) throws(StorageError) -> Int

    /// Ends the session; a write transaction that did not commit is undone.
    func end()
}

/// The maps of a write transaction.
public protocol OrderedWriter: OrderedReader {
    /// Sets the value of a key.
    func put(_ map: Int, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) throws(StorageError)

    /// Room for the value of a key that is greater than all in the map; the caller fills it before the next call.
    func append(_ map: Int, _ key: UnsafeRawBufferPointer, _ count: Int) throws(StorageError) -> UnsafeMutableRawPointer

    /// Room for the value of a key that is not in the map; the caller fills it before the next call.
    func reserve(_ map: Int, _ key: UnsafeRawBufferPointer, _ count: Int) throws(StorageError) -> UnsafeMutableRawPointer

    /// The row key of the last pair; nil when the map is empty.
    func lastKey(_ map: Int) throws(StorageError) -> Int64?

    /// Removes a key; false if it was not there.
    func delete(_ map: Int, _ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool

    /// Removes all pairs of a map.
    func clear(_ map: Int) throws(StorageError)

    /// Marks a point to return to; marks nest.
    func savepoint() throws(StorageError)

    /// Undoes everything since the innermost mark, which is gone then.
    func undoSavepoint() throws(StorageError)

    /// Keeps everything since the innermost mark, which is gone then.
    func keepSavepoint() throws(StorageError)

    /// The number of the transaction among all of the store, by which its commit can be found again; nil where commits cannot fail.
    var commitNumber: Int64? { get }

    /// Commits.
    ///
    /// *Behavior*: `commitOutcomeUnknown` where it is not certain that nothing of it will be there.
    func commit() throws(StorageError)
}

/// A position in a map.
public protocol OrderedCursor: AnyObject {
    /// Goes to the first pair whose key is not below `key`; false when there is none.
    func seek(_ key: UnsafeRawBufferPointer) throws(StorageError) -> Bool

    /// Goes to the next pair, the first at the beginning; false at the end.
    func next() throws(StorageError) -> Bool

    /// Goes to the pair before; false at the beginning.
    func previous() throws(StorageError) -> Bool

    /// Goes to the last pair; false when there is none.
    func last() throws(StorageError) -> Bool

    /// The key of the pair; valid until the cursor moves or the map changes.
    var key: UnsafeRawBufferPointer { get }

    /// The value of the pair; valid until the cursor moves or the map changes.
    var value: UnsafeRawBufferPointer { get }
}
