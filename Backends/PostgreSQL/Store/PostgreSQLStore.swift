#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
public import PolystoreStorage
internal import Synchronization

/// A store in a schema of a PostgreSQL database, version 15 or newer.
///
/// The tables are ordinary tables that any tool can read. Write transactions are SERIALIZABLE, and several can run at the same time.
public final class PostgreSQLStore: RemoteStorage, MigratingStorage, ChangeNotifyingStorage {
    /// The default maximum number of concurrent reads.
    public static let usualReaders = 16
    /// The maximum time that opening the store waits for an answer of the server.
    private static let patience = Duration.seconds(60)

    /// The type name of the store, `postgresql`.
    public static let storeType = "postgresql"

    /// The configuration whose entities the store contains; nil for all.
    public let configuration: String?
    /// The mappings that the program provides for steps between versions of the model.
    public let migrationMappingProviders: [any SchemaMappingProvider]
    let conninfo: String
    let schema: String
    let durability: Durability
    let isReadOnly: Bool
    private let recordsHistory: Bool
    let readerCount: Int
    let readTimeout: Duration?
    let owner: any PostgreSQLOwner
    let foreignRemarks = Mutex<[CatalogRemark]>([])
    let core = Mutex<PostgreSQLCore?>(nil)
    let isReadOnlyNow = Atomic(false)
    /// The observers of the store.
    public let observers = RemoteStorageObservers()
    let ears = Mutex(PostgreSQLEars())
    /// The schema of plain tables, if it is not the schema of the store.
    let plainSchema = Mutex<String?>(nil)
    /// The name of this program among its peers.
    let peerName = "polystore-" + UUID().uuidString.prefix(8).lowercased()

    /// Creates a store on a server. It connects when the store is added to a stack.
    ///
    /// - Parameters:
    ///   - conninfo: A connection string or URI in libpq's format; libpq's environment variables and password file apply too.
    ///   - configuration: The configuration whose entities the store contains; nil for all.
    ///   - schema: The schema of the database that contains the tables; it is created if it does not exist.
    ///   - durability: Whether a commit waits for the server's disk.
    ///   - readOnly: Whether the store refuses changes.
    ///   - recordsHistory: Whether the store records its changes in the history. A program that does not record them creates a gap, which
    ///     ends the history before it.
    ///   - migrationMappingProviders: The mappings that the program provides for steps between versions of the model.
    ///   - catalog: The table ownership. A schema that another program created is read-only, unless it is used in place.
    ///   - readers: The maximum number of concurrent reads, each on a connection of its own.
    ///   - readTimeout: The time without an answer of the server after which a read fails with `connectionLost`; nil for no limit. It limits
    ///     each statement of fetches and reads, with or without a timeout of their own, and not write transactions.
    public init(
        conninfo: String, configuration: String? = nil, schema: String = "polystore", durability: Durability = .full,
        readOnly: Bool = false, recordsHistory: Bool = true, migrationMappingProviders: [any SchemaMappingProvider] = [],
        catalog: PostgreSQLCatalog = .own, readers: Int = usualReaders,
        readTimeout: Duration? = nil
    ) {
        self.readTimeout = readTimeout
        self.migrationMappingProviders = migrationMappingProviders
        owner = catalog.owner(recordsHistory: recordsHistory)
        self.conninfo = conninfo
        self.configuration = configuration
        self.schema = schema
        self.durability = durability
        isReadOnly = readOnly
        readerCount = max(readers, 1)
        self.recordsHistory = recordsHistory
    }

    /// Creates the store of a URL:
    /// `postgresql://user@host/database?x-schema=NAME&x-durability=full|relaxed&x-mode=ro&x-history=on|off&x-readers=16&x-read-timeout=SECONDS`.
    /// All other parts are passed to libpq. For the tables of another program, in the schema `public` unless another one is named: `x-catalog=foreign` or
    /// `x-catalog=inplace`.
    public convenience init(url: StoreURL, configuration: String? = nil) throws(StorageError) {
        try url.unknownOptions(allowed: ["x-schema", "x-durability", "x-mode", "x-history", "x-catalog", "x-readers", "x-read-timeout"])
        let catalog = try PostgreSQLCatalog(url)
        let schema = url.option("x-schema") ?? catalog.defaultSchema, mode = url.option("x-mode") ?? "rw"
        if schema.isEmpty || schema.utf8.count > 63 {
            throw StorageError(.invalidConfiguration, "the option x-schema must be a name of at most 63 bytes")
        }
        guard ["ro", "rw"].contains(mode) else { throw StorageError(.invalidConfiguration, "the option x-mode must be ro or rw") }
        guard let readers = Int(url.option("x-readers") ?? "\(Self.usualReaders)"), (1...1000).contains(readers) else {
            throw StorageError(.invalidConfiguration, "the option x-readers must be a number from 1 to 1000")
        }
        let seconds = url.option("x-read-timeout").map { Int($0) ?? 0 }
        if let seconds, !(1...86_400).contains(seconds) {
            throw StorageError(.invalidConfiguration, "the option x-read-timeout must be a number of seconds from 1 to 86400")
        }
        self.init(
            conninfo: url.place, configuration: configuration, schema: schema, durability: try url.durability(option: "x-durability"),
            readOnly: mode == "ro", recordsHistory: try url.recordsHistory(option: "x-history"), catalog: catalog,
            readers: readers, readTimeout: seconds.map { .seconds($0) })
        if url.option("x-schema") == nil { plainSchema.withLock { $0 = PostgreSQLCatalog.foreign.defaultSchema } }
    }

    /// Creates a store on a server that answers; nil when the server cannot be reached or refuses the program.
    ///
    /// `probe()` distinguishes the two cases.
    public convenience init?(reaching conninfo: String, configuration: String? = nil, schema: String = "polystore") {
        self.init(conninfo: conninfo, configuration: configuration, schema: schema)
        guard (try? probe()) != nil else { return nil }
    }

    /// Connects to the server and throws if it does not answer or refuses the program.
    public func probe() throws(StorageError) { _ = try PostgreSQLConnection(conninfo: conninfo, schema: schema) }

    /// The capabilities of a PostgreSQL store.
    public var capabilities: StorageCapabilities {
        StorageCapabilities(
            owner.capabilities, maximumValueBytes: 1_000_000_000, maximumColumns: 1590, maximumReaders: readerCount)
    }

    /// Connects, and creates the tables where they are missing.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        if core.withLock({ $0 != nil }) { throw StorageError(.alreadyExists, "the store is already open") }
        return try owner.open(self, request)
    }

    /// Publishes the opened state, so that sessions can begin.
    func keep(_ opening: SQLOpening<PostgreSQLCore>) -> StorageState {
        core.withLock { $0 = opening.core }
        isReadOnlyNow.store(opening.isReadOnly, ordering: .releasing)
        foreignRemarks.withLock { $0 = opening.remarks }
        return opening.state
    }

    /// Opens a schema of Polystore's own tables.
    func openOwn(_ request: OpenRequest) throws(StorageError) -> StorageState {
        var request = request
        request.readOnly = request.readOnly || isReadOnly
        let connect = connector, connection = try connect()
        connection.longestSilence = Self.patience
        try connection.checkVersion()
        try connection.checkEncoding()
        // Opening a store only to inspect it does not count as a use.
        let isUsed = request.schema != nil
        if isUsed { observers.tell { $0.storageWillFinishInitialImport(self) } }
        var (stored, wasCreated) = try PostgreSQLCatalog.hinting { () throws(StorageError) in
            try PostgreSQLSetup(connection, schema).metadata(request)
        }
        stored.history.isOn = recordsHistory
        if request.schema?.hash == stored.schema.hash { try stored.adopt(request, recordsHistory: recordsHistory) }
        // A store of an older version has no notification triggers. If the role may not create them, the owner's program does.
        if isUsed, !request.readOnly { try? PostgreSQLTelling(connection, schema).makeWhereMissing() }
        let setup = PostgreSQLSetup(connection, schema)
        var offset = try setup.historyOffset(
            storing: isUsed && !request.readOnly, leavesRoom: wasCreated && request.leavesRoomForHistory)
        if isUsed, !request.readOnly, request.leavesRoomForHistory { offset = try setup.leaveRoom(offset) }
        var opened = PostgreSQLCore(
            stored, schema: schema, durability: durability, readers: readerCount, readTimeout: readTimeout, historyOffset: offset,
            checksOffset: isUsed,
            cluster: connection.cluster, open: connect)
        if let next = try RollingRecord.core(request, opened, setup) { opened = next }
        try opened.metadata.check(request)
        let state = keep(SQLOpening(opened, isReadOnly: request.readOnly, wasCreated: wasCreated))
        if isUsed {
            observers.tell { $0.storageDidFinishInitialImport(self) }
            observers.whenObserved { [weak self] in self?.listen() }
            try? connection.execute(PostgreSQLEvent.notify([.joining(peerName), .joined(peerName)], schema))
        }
        // The first session uses it.
        connection.longestSilence = nil
        opened.idle.add(connection)
        return state
    }

    /// Returns a function that opens connections which identify their program.
    var connector: @Sendable () throws(StorageError) -> PostgreSQLConnection {
        { [conninfo, schema, durability, peerName, recordsHistory] () throws(StorageError) in
            try PostgreSQLConnection(
                conninfo: conninfo, schema: schema, durability: durability,
                marking: PostgreSQLTelling.marking(peerName, records: recordsHistory))
        }
    }

    func opened() throws(StorageError) -> PostgreSQLCore {
        guard let core = core.withLock({ $0 }) else {
            throw StorageError(.storeClosed, "the store is not open; add it to a stack, or call open")
        }
        return core
    }

    /// Begins a session that reads one snapshot.
    public func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader {
        try renewing { core throws(StorageError) in try self.read(core, options) }
    }

    private func read(_ core: PostgreSQLCore, _ options: ReadOptions) throws(StorageError) -> any StorageReader {
        let pool = options.isForWriter ? core.helpers : core.readers
        return try pool.begin(options.limit, timeout: 30) { connection throws(StorageError) in
            // BEGIN alone does not take a snapshot; the first query does. All go in one round trip.
            try core.begin(connection, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            return core.reader(connection, of: pool)
        }
    }

    /// Begins a write transaction. Up to four run at the same time.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        try renewing { core throws(StorageError) in try self.write(core, options) }
    }

    private func write(_ core: PostgreSQLCore, _ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        try lane(core, options) { lane throws(StorageError) in
            // The flag is read before the snapshot is taken: if it is set, the transaction sees the changes that settled the history, and
            // gets a greater ID.
            let isSettled = core.hasSettledHistory.load(ordering: .acquiring)
            // Transactions that share a load read only notes, which they lock. Each must see what the others have committed since it began.
            let isolation = options.sharesLoad ? "READ COMMITTED" : "SERIALIZABLE"
            try core.begin(
                lane.connection,
                "BEGIN ISOLATION LEVEL \(isolation); SET LOCAL lock_timeout = \(options.milliseconds); \(PostgreSQLTelling.deferring)")
            return core.session(lane, options, isSettled: isSettled)
        }
    }

    /// Begins a session. If an online migration has ended with this program's version, the session uses the store's current state.
    private func renewing<Session>(
        _ body: (PostgreSQLCore) throws(StorageError) -> Session
    ) throws(StorageError) -> Session {
        let core = try opened()
        do throws(StorageError) {
            return try body(core)
        } catch {
            if core.rolling != nil, error.code == .storeClosed, let current = successor(of: core) { return try body(current) }
            if error.code != .schemaMismatch || core.rolling == nil { throw core.isClosed ? error.ofClosedStore : error }
            let connection = try connector()
            let metadata = try StoreMetadata(entries: try PostgreSQLSetup(connection, schema).entries())
            if metadata.hash != core.metadata.hash { throw error }
            guard let current = publish(core.core(of: metadata), after: core) else { throw error.ofClosedStore }
            return try body(current)
        }
    }

    /// Returns the core by which another thread has replaced a core; nil if there is none of the same version of the model.
    private func successor(of core: PostgreSQLCore) -> PostgreSQLCore? {
        guard let current = self.core.withLock({ $0 }), current !== core, current.metadata.hash == core.metadata.hash else { return nil }
        return current
    }

    /// Replaces the core, unless another thread has done so.
    ///
    /// - Returns: The current core; nil if the store was closed.
    @discardableResult
    func publish(_ next: PostgreSQLCore, after core: PostgreSQLCore) -> PostgreSQLCore? {
        let current = self.core.withLock { current in
            if current === core { current = next }
            return current
        }
        core.close()
        return current
    }

    /// Begins a session that needs a slot among the writers.
    func lane<Session>(
        _ core: PostgreSQLCore, _ options: WriteOptions, _ body: (PostgreSQLLane) throws(StorageError) -> Session
    ) throws(StorageError) -> Session {
        if isReadOnlyNow.load(ordering: .acquiring) { throw owner.refusal }
        return try core.writers.begin(options.limit, timeout: options.timeout) { connection throws(StorageError) in
            let lane = try PostgreSQLLane.enter(core, connection, options)
            // It may have waited for the lock. The connection, which holds the lock, is closed.
            if core.isClosed { throw StorageError(.storeClosed, "the store was closed while the session began") }
            return try body(lane)
        }
    }

    /// Closes the connections.
    public func close() throws(StorageError) { _ = closeKeepingOne() }

    /// Closes the store.
    ///
    /// - Returns: A connection of it that was idle, if there is one that the server answers.
    private func closeKeepingOne() -> PostgreSQLConnection? {
        let core = core.withLock { core in
            defer { core = nil }
            return core
        }
        guard let core else { return nil }
        stopListening()
        let connection = core.idle.take()
        // A server that no longer answers need not be notified.
        if owner.isPolystore, let connection {
            connection.longestSilence = .seconds(2)
            try? connection.execute(PostgreSQLEvent.notify([.leaving(peerName), .left(peerName)], schema))
            connection.longestSilence = nil
        }
        core.close()
        return connection.flatMap { $0.isUsable ? $0 : nil }
    }

    /// Closes the store, and returns a connection to its schema.
    private func closeForRemoval() throws(StorageError) -> PostgreSQLConnection {
        if let connection = closeKeepingOne() { return connection }
        return try PostgreSQLConnection(conninfo: conninfo, schema: schema)
    }

    /// Closes the connections and drops the store's tables if they are Polystore's own, and the schema if it was created for the store and
    /// is otherwise empty. For a schema of another program that is used in place, it removes only Polystore's own tables and triggers, and
    /// for any other schema of another program nothing.
    ///
    /// - Throws: `unsupported` if an object of another program, for example a view, depends on a table; `readOnly` if the store refuses
    ///   changes. Nothing is dropped then.
    public func erase() throws(StorageError) {
        let isOpen = core.withLock { $0 != nil }
        if isReadOnly || isOpen && isReadOnlyNow.load(ordering: .acquiring) { throw owner.refusal }
        try owner.erase(self)
    }

    /// Closes the connections and drops a store of Polystore's own tables.
    func eraseOwn() throws(StorageError) {
        let connection = try closeForRemoval(), setup = PostgreSQLSetup(connection, schema)
        if try setup.isOurs() {
            tell(.erasing)
            try connection.execute(PostgreSQLEvent.notify([.erasing], schema))
            try removeTables(setup)
            tell(.erased)
        }
    }
}

extension PostgreSQLStore {
    /// Drops the tables. Sessions that have not ended yet may wait for locks of the removal and hold others, which the server ends by a
    /// conflict; it is then repeated.
    private func removeTables(_ setup: PostgreSQLSetup) throws(StorageError) {
        for _ in 1..<5 {
            do throws(StorageError) { return try setup.erase() } catch { if error.code != .serializationFailure { throw error } }
        }
        try setup.erase()
    }
}

extension PostgreSQLStore: ConcurrentLoadStorage {
    package var concurrentLoads: Int { owner.isPolystore ? PostgreSQLCore.mostWriters : 1 }
}

/// The lock of the writers is taken together with the note.
extension PostgreSQLStore: MoveCheckingStorage {}

extension PostgreSQLStore: WithdrawableStorage {
    package func withdraw() throws(StorageError) {
        if !owner.isPolystore { return try close() }
        let connection = try closeForRemoval(), setup = PostgreSQLSetup(connection, schema)
        if try setup.isOurs() { try setup.erase(ifUnused: true) }
    }
}

extension PostgreSQLStore: CustomDebugStringConvertible, CustomReflectable {
    /// A mirror without children, so that `dump` does not print the password.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The server and the database without any password, the schema, the configuration, and whether the store refuses changes.
    public var debugDescription: String {
        let address = (try? PostgreSQLAddress(conninfo))?.publicText ?? "at an invalid address"
        return "PostgreSQLStore \(address) schema \"\(schema)\" (\(configuration ?? "all entities"))\(isReadOnly ? " read-only" : "")"
    }
}
#endif
