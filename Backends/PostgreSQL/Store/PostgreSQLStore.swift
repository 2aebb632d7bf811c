#if PostgreSQL
internal import PolystoreSQL
public import PolystoreStorage
internal import Synchronization

/// A store in a schema of a PostgreSQL database, version 15 or newer.
///
/// The tables are ordinary tables that any tool can read. Write transactions are SERIALIZABLE, and several can run at once.
public final class PostgreSQLStore: StorageInterface {
    /// `postgresql`.
    public static let storeType = "postgresql"

    private static let oldestVersion = 150_000

    /// The configuration whose entities the store keeps; nil for all.
    public let configuration: String?
    private let conninfo: String
    private let schema: String
    private let durability: Durability
    private let isReadOnly: Bool
    private let core = Mutex<PostgreSQLCore?>(nil)
    private let isReadOnlyNow = Atomic(false)

    /// A store on a server, which is opened when the store is added to a stack.
    ///
    /// - Parameters:
    ///   - conninfo: A connection string or URI, as libpq takes it; its environment variables and password file count too.
    ///   - configuration: The configuration whose entities the store keeps; nil for all.
    ///   - schema: The schema of the database that holds the tables; it is made where it is missing.
    ///   - durability: Whether a commit waits for the server's disk.
    ///   - readOnly: Whether changes are refused.
    public init(
        conninfo: String, configuration: String? = nil, schema: String = "polystore", durability: Durability = .full,
        readOnly: Bool = false
    ) {
        self.conninfo = conninfo
        self.configuration = configuration
        self.schema = schema
        self.durability = durability
        isReadOnly = readOnly
    }

    /// The store of a URL: `postgresql://user@host/database?x-schema=NAME&x-durability=full|relaxed&x-mode=ro`, everything else for libpq.
    public convenience init(url: StoreURL, configuration: String? = nil) throws(StorageError) {
        try url.unknownOptions(allowed: ["x-schema", "x-durability", "x-mode"])
        let schema = url.option("x-schema") ?? "polystore", mode = url.option("x-mode") ?? "rw"
        if schema.isEmpty || schema.utf8.count > 63 {
            throw StorageError(.invalidConfiguration, "x-schema is a name of at most 63 bytes")
        }
        guard ["ro", "rw"].contains(mode) else { throw StorageError(.invalidConfiguration, "x-mode is ro or rw") }
        self.init(
            conninfo: url.place, configuration: configuration, schema: schema, durability: try url.durability(option: "x-durability"),
            readOnly: mode == "ro")
    }

    /// What PostgreSQL can do.
    public var capabilities: StorageCapabilities {
        StorageCapabilities(
            [.persistent, .multipleProcesses, .concurrentWriters, .snapshotReads, .savepoints, .history, .durableCommits],
            maximumValueBytes: 1_000_000_000, maximumColumns: 1590)
    }

    /// Connects, and makes the tables where they are missing.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        if core.withLock({ $0 != nil }) { throw StorageError(.alreadyExists, "the store is already open") }
        var request = request
        request.readOnly = request.readOnly || isReadOnly
        let connection = try PostgreSQLConnection(conninfo: conninfo, schema: schema)
        guard connection.serverVersion >= Self.oldestVersion else {
            throw StorageError(.unsupported, "the server has version \(connection.serverVersion / 10_000); PostgreSQL 15 is the oldest")
        }
        let (metadata, wasCreated) = try PostgreSQLSetup(connection, schema).metadata(request)
        try metadata.check(request)
        let (conninfo, schema) = (conninfo, schema)
        let opened = PostgreSQLCore(metadata, schema: schema, durability: durability) {
            try PostgreSQLConnection(conninfo: conninfo, schema: schema)
        }
        core.withLock { $0 = opened }
        isReadOnlyNow.store(request.readOnly, ordering: .releasing)
        return StorageState(
            storeID: metadata.storeID, schema: metadata.schema, formatVersion: metadata.formatVersion, wasCreated: wasCreated)
    }

    private func opened() throws(StorageError) -> PostgreSQLCore {
        guard let core = core.withLock({ $0 }) else {
            throw StorageError(.storeClosed, "the store is not open; add it to a stack or call open")
        }
        return core
    }

    /// Starts to read one snapshot.
    public func beginRead() throws(StorageError) -> any StorageReader {
        let core = try opened()
        let connection = try core.readers.take(timeout: 30)
        do throws(StorageError) {
            // BEGIN alone takes no snapshot: the first statement does, and both go in one round trip.
            try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT pg_current_snapshot()")
        } catch {
            core.readers.give(connection)
            throw error
        }
        return PostgreSQLReader(core, connection)
    }

    /// Starts a write transaction; up to four run at once.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        let core = try opened()
        if isReadOnlyNow.load(ordering: .acquiring) { throw StorageError(.readOnly, "the store was opened for reading only") }
        let connection = try core.writers.take(timeout: options.timeout)
        do throws(StorageError) {
            let function = options.isExclusive ? "pg_advisory_lock" : "pg_advisory_lock_shared"
            // Before BEGIN: a snapshot taken while waiting for the lock would be old.
            try connection.execute(
                "SET lock_timeout = \(Int(min(max(options.timeout, 0.001), 2_000_000) * 1000)); SELECT \(function)(\(core.lock)); SET lock_timeout = 0"
            )
            try connection.execute("BEGIN ISOLATION LEVEL SERIALIZABLE")
        } catch {
            core.writers.give(connection)
            throw error
        }
        return PostgreSQLWriter(core, connection, isExclusive: options.isExclusive)
    }

    /// Closes the connections.
    public func close() throws(StorageError) {
        let core = core.withLock { core in
            defer { core = nil }
            return core
        }
        core?.close()
    }

    /// Closes the connections and drops the schema with everything in it, if it is one of ours.
    public func erase() throws(StorageError) {
        try close()
        let connection = try PostgreSQLConnection(conninfo: conninfo, schema: schema)
        if try PostgreSQLSetup(connection, schema).isOurs() {
            try connection.execute("DROP SCHEMA \(SQLText.quoted(schema)) CASCADE")
        }
    }
}
#endif
