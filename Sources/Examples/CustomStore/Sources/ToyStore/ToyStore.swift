public import PolystoreStorage
internal import Synchronization

/// A store of somebody else, written against the contract alone: one value in memory, which each session copies.
///
/// It has no abilities besides the contract, so everything else is answered above it.
public final class ToyStore: StorageInterface {
    /// `toy`.
    public static let storeType = "toy"

    /// The configuration whose entities the store keeps; nil for all.
    public let configuration: String?
    private let committed = Mutex<ToyDatabase?>(nil)
    private let lane = WriteLane()

    /// An empty store.
    public init(configuration: String? = nil) { self.configuration = configuration }

    /// Snapshots and savepoints.
    public var capabilities: StorageCapabilities {
        StorageCapabilities([.snapshotReads, .savepoints], maximumValueBytes: 1 << 30, maximumColumns: 4096)
    }

    /// Opens the store, empty.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        guard let schema = request.schema else { throw StorageError(.notFound, "a toy store is empty until it is opened with a schema") }
        guard request.createIfMissing, !request.readOnly else { throw StorageError(.notADatabase, "a toy store begins empty") }
        let isNew = committed.withLock { committed in
            defer { committed = committed ?? ToyDatabase(schema) }
            return committed == nil
        }
        if !isNew { throw StorageError(.alreadyExists, "the store is already open") }
        let metadata = StoreMetadata(new: schema)
        return StorageState(storeID: metadata.storeID, schema: schema, formatVersion: metadata.formatVersion, wasCreated: true)
    }

    /// Starts to read one snapshot.
    public func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader {
        ToyReader(try current(), options.limit)
    }

    /// Starts the write transaction, waiting for the one before it.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        try lane.enter(timeout: options.timeout, limit: options.limit) { committed.withLock { $0 == nil } }
        do throws(StorageError) {
            return ToyWriter(try current(), options.limit, of: self)
        } catch {
            lane.leave()
            throw error
        }
    }

    /// Ends the write transaction.
    ///
    /// - Parameter database: What it leaves behind; nil for a rollback.
    func endWrite(_ database: ToyDatabase?) throws(StorageError) {
        defer { lane.leave() }
        guard let database else { return }
        let isOpen = committed.withLock { committed in
            defer { if committed != nil { committed = database } }
            return committed != nil
        }
        if !isOpen { throw StorageError(.storeClosed, "the store was closed") }
    }

    private func current() throws(StorageError) -> ToyDatabase {
        guard let database = committed.withLock({ $0 }) else { throw StorageError(.storeClosed, "the store is not open") }
        return database
    }

    /// Closes the store; everything in it is gone.
    public func close() throws(StorageError) {
        committed.withLock { $0 = nil }
        lane.dismiss()
    }

    /// Closes the store; everything in it is gone.
    public func erase() throws(StorageError) { try close() }
}
