/// What a store can do and how far; published by the store after it was opened, and enforced and tested both ways.
public struct StorageCapabilities: Sendable, Hashable {
    /// One thing that a store may lack.
    public struct Capability: Sendable, Hashable, CustomStringConvertible {
        /// The name.
        public let description: String

        init(_ name: String) { description = name }

        /// What was written is there after the store was closed and opened again.
        public static let persistent = Self("persistent")
        /// Other processes can use the same data at the same time.
        public static let multipleProcesses = Self("multipleProcesses")
        /// Several write transactions can be open at once.
        public static let concurrentWriters = Self("concurrentWriters")
        /// A long read sees one snapshot while others write.
        public static let snapshotReads = Self("snapshotReads")
        /// Savepoints within a write transaction.
        public static let savepoints = Self("savepoints")
        /// The store keeps the history of its transactions.
        public static let history = Self("history")
        /// An acknowledged commit survives a loss of power when it is asked for.
        public static let durableCommits = Self("durableCommits")
        /// The store takes statements in SQL.
        public static let rawSQL = Self("rawSQL")
        /// A partial index holds only the objects of its condition; without this it holds all.
        public static let partialIndexes = Self("partialIndexes")
        /// A full-text index finds the objects of a search; without this all texts are read.
        public static let fullTextIndexes = Self("fullTextIndexes")

        /// The store signals what other processes change (`watchChanges`).
        public static let remoteChanges = Self("remoteChanges")
        /// The store goes over to other versions of the model in place, in one transaction for each.
        public static let migrations = Self("migrations")
        /// The store goes over to the next version of the model while programs of both versions use it (`RollingStorage`).
        public static let rollingMigrations = Self("rollingMigrations")

        /// All of them.
        public static let all: [Capability] = [
            persistent, multipleProcesses, concurrentWriters, snapshotReads, savepoints, history, durableCommits, rawSQL, partialIndexes,
            fullTextIndexes, remoteChanges, migrations, rollingMigrations,
        ]
    }

    /// What the store can do.
    public var supported: Set<Capability>
    /// The most bytes of one string or data value.
    public var maximumValueBytes: Int
    /// The most attributes and to-one relationships of an entity's hierarchy.
    public var maximumColumns: Int

    /// Capabilities and limits.
    public init(_ supported: Set<Capability>, maximumValueBytes: Int, maximumColumns: Int) {
        self.supported = supported
        self.maximumValueBytes = maximumValueBytes
        self.maximumColumns = maximumColumns
    }

    /// Whether the store has a capability.
    public func contains(_ capability: Capability) -> Bool { supported.contains(capability) }
}

/// How a store answers a node of a plan.
public enum Pushdown: Sendable, Hashable {
    /// By itself, exactly.
    case exact
    /// By itself, but with rows that a residual filter above must remove.
    case inexact
    /// Not at all: the layer above filters and sorts.
    case unsupported
}
