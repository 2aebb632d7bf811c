public import PolystoreStorage

/// An engine of ordered maps from bytes to bytes, the requirement for a key-value store that uses this kit.
///
/// Keys are ordered byte by byte; of two keys with a common prefix the shorter sorts first. A session is used by one thread at a time.
public protocol OrderedStore: AnyObject, Sendable {
    /// The maximum length of a key in bytes.
    var maximumKeyBytes: Int { get }

    /// The maximum length of a value in bytes.
    var maximumValueBytes: Int { get }

    /// Whether records carry a checksum: true for an engine whose data leaves the memory of the process, because it may come back changed.
    var checksRecords: Bool { get }

    /// Opens the engine with the maps that the request needs, and creates the ones that are missing if the request allows it.
    ///
    /// - Returns: Whether the store existed before.
    func open(_ request: OrderedOpen) throws(StorageError) -> Bool

    /// Makes maps available, creating those that are missing.
    ///
    /// - Returns: The number of each map by its name. Sessions that begin later use these numbers; open sessions keep those that they know.
    @discardableResult
    func prepare(maps: [String]) throws(StorageError) -> [String: Int]

    /// Prepares the engine for another set of maps, for example after a migration to another version of the model. An engine may discard
    /// the numbers of its maps.
    ///
    /// - Throws: `busy` when sessions are open.
    func reopen(mapCount: Int) throws(StorageError)

    /// Removes maps that are empty. Names without a map are ignored. The numbers of all other maps remain valid.
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
