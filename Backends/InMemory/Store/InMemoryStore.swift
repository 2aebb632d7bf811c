internal import PolystoreKeyValue
public import PolystoreStorage

/// A store in memory: it starts empty and is gone when it is closed.
///
/// It is a full store, with snapshots, savepoints, constraints and history, and the strictest reading of the contract.
public final class InMemoryStore: MigratingStorage {
    /// `memory`.
    public static let storeType = "memory"

    /// The configuration whose entities the store keeps; nil for all.
    public let configuration: String?
    private let recordsHistory: Bool
    private let store: KeyValueStore

    /// An empty store.
    ///
    /// - Parameters:
    ///   - configuration: The configuration whose entities the store keeps; nil for all.
    ///   - recordsHistory: Whether what is changed is recorded.
    public init(configuration: String? = nil, recordsHistory: Bool = true) {
        self.configuration = configuration
        self.recordsHistory = recordsHistory
        store = KeyValueStore(MemoryEngine(), recordsHistory: recordsHistory)
    }

    /// The store of a URL: `memory:?history=on|off`.
    public convenience init(url: StoreURL, configuration: String? = nil) throws(StorageError) {
        try url.unknownOptions(allowed: ["history"])
        self.init(configuration: configuration, recordsHistory: try url.recordsHistory())
    }

    /// What the store can do.
    public var capabilities: StorageCapabilities {
        let history: Set<StorageCapabilities.Capability> = recordsHistory ? [.history] : []
        return StorageCapabilities(
            history.union([.snapshotReads, .savepoints, .migrations, .fullTextIndexes]), maximumValueBytes: 1 << 30, maximumColumns: 4096)
    }

    /// Opens the store, empty.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        if request.schema == nil { throw StorageError(.notFound, "a memory store is empty until it is opened with a schema") }
        return try store.open(request)
    }

    /// Starts to read one snapshot.
    public func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader { try store.beginRead(options) }

    /// Starts the write transaction, waiting for the one before it.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter { try store.beginWrite(options) }

    /// What becomes of each map in a step.
    public func explanation(of step: MigrationStep, after earlier: [MigrationStep]) throws(StorageError) -> [String] {
        try store.explanation(of: step, after: earlier)
    }

    /// Starts to lead the store to another version of the model, in one transaction.
    public func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> any StorageMigration {
        try store.beginMigration(step, options)
    }

    /// Closes the store; everything in it is gone.
    public func close() throws(StorageError) { store.close() }

    /// Closes the store; everything in it is gone.
    public func erase() throws(StorageError) { store.close() }
}
