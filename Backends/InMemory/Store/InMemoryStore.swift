internal import PolystoreKeyValue
public import PolystoreStorage

/// A store in memory, which starts empty and loses its contents when it is closed.
///
/// It is a complete store with snapshots, savepoints, constraints and history, and the strictest interpretation of the contract.
public final class InMemoryStore: MigratingStorage {
    /// The type name of the store, `memory`.
    public static let storeType = "memory"

    /// The configuration whose entities the store contains; nil for all.
    public let configuration: String?
    private let recordsHistory: Bool
    private let store: KeyValueStore

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - configuration: The configuration whose entities the store contains; nil for all.
    ///   - recordsHistory: Whether the store records its changes in the history.
    public init(configuration: String? = nil, recordsHistory: Bool = true) {
        self.configuration = configuration
        self.recordsHistory = recordsHistory
        store = KeyValueStore(MemoryEngine(), recordsHistory: recordsHistory)
    }

    /// Creates the store of a URL: `memory:?history=on|off`.
    public convenience init(url: StoreURL, configuration: String? = nil) throws(StorageError) {
        try url.unknownOptions(allowed: ["history"])
        self.init(configuration: configuration, recordsHistory: try url.recordsHistory())
    }

    /// The capabilities of the store.
    public var capabilities: StorageCapabilities {
        let history: Set<StorageCapabilities.Capability> = recordsHistory ? [.history] : []
        return StorageCapabilities(
            history.union([.snapshotReads, .savepoints, .migrations, .fullTextIndexes]), maximumValueBytes: 1 << 30, maximumColumns: 4096)
    }

    /// Opens the store, which is empty.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        if request.schema == nil { throw StorageError(.notFound, "a memory store is created empty: open it with a schema") }
        return try store.open(request)
    }

    /// Begins a session that reads one snapshot.
    public func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader { try store.beginRead(options) }

    /// Begins the write transaction after waiting for the previous one to end.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter { try store.beginWrite(options) }

    /// Returns a description of the effect of a migration step on each map.
    public func explanation(of step: MigrationStep, after earlier: [MigrationStep]) throws(StorageError) -> [String] {
        try store.explanation(of: step, after: earlier)
    }

    /// Begins a migration of the store to another version of the model, in one transaction.
    public func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> any StorageMigration {
        try store.beginMigration(step, options)
    }

    /// Closes the store and discards its contents.
    public func close() throws(StorageError) { store.close() }

    /// Closes the store and discards its contents.
    public func erase() throws(StorageError) { store.close() }
}

extension InMemoryStore: CustomDebugStringConvertible {
    /// The configuration.
    public var debugDescription: String { "InMemoryStore (\(configuration ?? "all entities"))" }
}
