public import PolystoreStorage

/// An engine of ordered maps from bytes to bytes, the requirement for a key-value store that uses this kit.
///
/// Keys are ordered byte by byte; of two keys with a common prefix the shorter sorts first. A session is used by one thread at a time.
public protocol OrderedStore: AnyObject, Sendable {
    /// The maximum length of a key in bytes.
    var maximumKeyBytes: Int { get }

    /// The maximum length of a value in bytes.
    var maximumValueBytes: Int { get }

    /// Whether records carry a checksum, because data that has left the memory of the process may come back changed.
    var checksRecords: Bool { get }

    /// Opens the engine with the maps that the request needs, and creates the ones that are missing if the request allows it.
    ///
    /// - Returns: Whether the store existed before.
    func open(_ request: OrderedOpen) throws(StorageError) -> Bool

    /// Makes maps available, creating those that are missing.
    ///
    /// - Returns: The number of each map by its name. Sessions that begin later use these numbers.
    @discardableResult
    func prepare(maps: [String]) throws(StorageError) -> [String: Int]

    /// Prepares the engine for another set of maps, for example after a migration to another version of the model. An engine may discard
    /// the numbers of its maps.
    ///
    /// - Throws: `busy` when sessions are open.
    func reopen(mapCount: Int) throws(StorageError)

    /// Removes maps that are empty. Names without a map are ignored.
    func remove(maps: [String]) throws(StorageError)

    /// Begins a session that reads one snapshot.
    func read(_ options: ReadOptions) throws(StorageError) -> any OrderedReader

    /// Begins the write transaction. The kit ensures that a process has at most one at a time.
    ///
    /// *Behavior*: waits for write transactions of other processes up to the timeout (`busy`), and until the limit of the options ends.
    func write(_ options: WriteOptions) throws(StorageError) -> any OrderedWriter

    /// Closes the engine.
    func close()
}

/// The parameters for opening an engine.
public struct OrderedOpen: Sendable {
    /// Whether a store that does not exist is created.
    public var create: Bool
    /// Whether the engine refuses changes.
    public var readOnly: Bool
    /// The number of maps that the store will have.
    public var mapCount: Int

    /// Creates a request.
    public init(create: Bool, readOnly: Bool, mapCount: Int) {
        self.create = create
        self.readOnly = readOnly
        self.mapCount = mapCount
    }
}

/// A snapshot of the maps, or the maps of a write transaction.
public protocol OrderedReader: AnyObject {
    /// Returns the value of a key. It is valid until the next change or the end of the session.
    func get(_ map: Int, _ key: UnsafeRawBufferPointer) throws(StorageError) -> UnsafeRawBufferPointer?

    /// Returns a cursor that is positioned before the first pair of a map.
    func cursor(_ map: Int) throws(StorageError) -> any OrderedCursor

    /// Returns the number of pairs in a map.
    func count(_ map: Int) throws(StorageError) -> Int

    /// Ends the session. A write transaction that did not commit is rolled back.
    func end()
}

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

    /// The number of the transaction, unique in the store, by which the outcome of its commit can be found later; nil where commits cannot
    /// fail.
    var commitNumber: Int64? { get }

    /// Commits the transaction.
    ///
    /// *Behavior*: throws `commitOutcomeUnknown` when it is not certain that none of the changes will be in the store.
    func commit() throws(StorageError)
}

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
