/// The capabilities and limits of a store. The store publishes them after it was opened, a wrapper enforces them, and the conformance suite
/// tests each capability both when present and when absent.
public struct StorageCapabilities: Sendable, Hashable {
    /// A feature that a store may lack.
    public struct Capability: Sendable, Hashable, CustomStringConvertible {
        /// The name of the capability.
        public let description: String

        init(_ name: String) { description = name }

        /// Written data is still present after the store was closed and opened again.
        public static let persistent = Self("persistent")
        /// Other processes can use the same data at the same time.
        public static let multipleProcesses = Self("multipleProcesses")
        /// Several write transactions can be open at once.
        public static let concurrentWriters = Self("concurrentWriters")
        /// A long read sees one snapshot while other transactions write.
        public static let snapshotReads = Self("snapshotReads")
        /// Write transactions support savepoints.
        public static let savepoints = Self("savepoints")
        /// The store keeps the history of its transactions.
        public static let history = Self("history")
        /// A commit acknowledged with full durability survives a loss of power.
        public static let durableCommits = Self("durableCommits")
        /// The store executes SQL statements.
        public static let rawSQL = Self("rawSQL")
        /// A partial index contains only the objects that satisfy its condition. Without this capability it contains all objects.
        public static let partialIndexes = Self("partialIndexes")
        /// A full-text index finds the objects that match a search. Without this capability the search reads all texts.
        public static let fullTextIndexes = Self("fullTextIndexes")

        /// The store reports changes made by other processes (`watchChanges`).
        public static let remoteChanges = Self("remoteChanges")
        /// The store migrates to other versions of the model in place, in one transaction for each version.
        public static let migrations = Self("migrations")
        /// The store supports an online migration to the next version of the model, while programs of both versions use it
        /// (`RollingStorage`).
        public static let rollingMigrations = Self("rollingMigrations")

        /// All capabilities.
        public static let all: [Capability] = [
            persistent, multipleProcesses, concurrentWriters, snapshotReads, savepoints, history, durableCommits, rawSQL, partialIndexes,
            fullTextIndexes, remoteChanges, migrations, rollingMigrations,
        ]
    }

    /// The capabilities of the store.
    public var supported: Set<Capability>
    /// The maximum size of one string or data value, in bytes.
    public var maximumValueBytes: Int
    /// The maximum number of attributes and to-one relationships in an entity's hierarchy.
    public var maximumColumns: Int

    /// The number of sessions that can read at the same time, such as the size of a pool of connections; nil if only the machine limits it.
    public var maximumReaders: Int?

    /// Creates a set of capabilities and limits.
    public init(_ supported: Set<Capability>, maximumValueBytes: Int, maximumColumns: Int, maximumReaders: Int? = nil) {
        self.maximumReaders = maximumReaders
        self.supported = supported
        self.maximumValueBytes = maximumValueBytes
        self.maximumColumns = maximumColumns
    }

    /// Whether the store has a capability.
    public func contains(_ capability: Capability) -> Bool { supported.contains(capability) }
}
