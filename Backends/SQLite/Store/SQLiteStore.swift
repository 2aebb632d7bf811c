#if SQLite
public import PolystoreFoundation
internal import PolystoreSQL
public import PolystoreStorage
internal import Synchronization

/// A store in a SQLite database file.
///
/// The file is an ordinary database with ordinary tables that any tool can read. It is in WAL mode: there is one writer at a time, readers
/// never wait for it, and other processes can use the file at the same time.
public final class SQLiteStore: LocalStorage, ForeignStorage, MigratingStorage, ChangeNotifyingStorage {
    /// The type name of the store, `sqlite`.
    public static let storeType = "sqlite"

    /// The configuration whose entities the store contains; nil for all.
    public let configuration: String?
    /// The path of the file.
    public var path: String { place.path }
    /// The actions that a stack may take when the file does not match its model.
    public let localStorageOptions: LocalStorageOptions
    /// The mappings that the program provides for steps between versions of the model.
    public let migrationMappingProviders: [any SchemaMappingProvider]
    let place: SQLitePlace
    let isReadOnly: Bool
    private let recordsHistory: Bool
    private let checksAtOpening: Bool
    private let owner: any SQLiteOwner
    private let opened = Mutex<SQLiteCore?>(nil)
    private let foreignRemarks = Mutex<[CatalogRemark]>([])
    private let watcher = Mutex<FileStoreWatcher?>(nil)
    /// The state of the path before this instance created the store; nil if it did not.
    private let origin = Mutex<FileOrigin?>(nil)

    /// Creates a store in a file. The file is opened when the store is added to a stack.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - configuration: The configuration whose entities the store contains; nil for all.
    ///   - durability: Whether a commit waits for the disk.
    ///   - busyTimeout: The maximum time to wait for other connections, in seconds.
    ///   - readOnly: Whether the store refuses changes.
    ///   - recordsHistory: Whether the store records its changes in the history. A program that does not record them creates a gap, which
    ///     ends the history before it.
    ///   - localStorageOptions: The actions that a stack may take when the file does not match its model.
    ///   - migrationMappingProviders: The mappings that the program provides for steps between versions of the model.
    ///   - checksAtOpening: Whether `open` checks for damage like `check`, which takes about as long as reading all data.
    ///   - cacheKilobytes: The size of the page cache of each connection.
    ///   - checksums: Whether a new file gets a checksum for each page, which reveals damage when the page is read. A file with checksums
    ///     always keeps them. A file without them is refused (`invalidConfiguration`), and so is a file of another program.
    ///   - catalog: The table ownership. A file that another program created is read-only, unless it is used in place.
    public init(
        path: String, configuration: String? = nil, durability: Durability = .full, busyTimeout: TimeInterval = 10,
        readOnly: Bool = false, recordsHistory: Bool = true, localStorageOptions: LocalStorageOptions = [],
        migrationMappingProviders: [any SchemaMappingProvider] = [], checksAtOpening: Bool = false, cacheKilobytes: Int = 65_536,
        checksums: Bool = false, catalog: SQLiteCatalog = .own
    ) {
        self.checksAtOpening = checksAtOpening
        self.migrationMappingProviders = migrationMappingProviders
        owner = catalog.owner(recordsHistory: recordsHistory)
        self.localStorageOptions = owner.localStorageOptions(localStorageOptions)
        place = SQLitePlace(
            path: path, durability: durability, busyTimeout: busyTimeout, cacheKilobytes: cacheKilobytes,
            checksums: checksums ? .required : owner.isPolystore ? .kept : .ignored)
        self.configuration = configuration
        isReadOnly = readOnly
        self.recordsHistory = recordsHistory
    }

    /// Creates the store of a URL:
    /// `sqlite:PATH?mode=ro&durability=full|relaxed&busy=SECONDS&history=on|off&check=on|off&cache=KILOBYTES&checksums=on|off`, and for a
    /// file of another program `sqlite:PATH?catalog=foreign`, `sqlite:PATH?catalog=inplace` or
    /// `sqlite:PATH?catalog=coredata&model=X.xcdatamodeld`.
    public convenience init(url: StoreURL, configuration: String? = nil) throws(StorageError) {
        try url.unknownOptions(allowed: ["mode", "durability", "busy", "history", "check", "cache", "checksums", "catalog", "model"])
        if url.place.isEmpty { throw StorageError(.invalidConfiguration, "a SQLite URL requires the path of a file, as in sqlite:shop.db") }
        try Self.checkPath(url.place)
        let mode = url.option("mode") ?? "rw"
        guard ["ro", "rw"].contains(mode) else { throw StorageError(.invalidConfiguration, "the option mode must be ro or rw") }
        guard let busy = TimeInterval(url.option("busy") ?? "10"), busy >= 0 else {
            throw StorageError(.invalidConfiguration, "the option busy must be a number of seconds")
        }
        guard let cache = Int(url.option("cache") ?? "65536"), (1...1_000_000_000).contains(cache) else {
            throw StorageError(.invalidConfiguration, "the option cache must be a number of kilobytes of at least 1")
        }
        self.init(
            path: url.place, configuration: configuration, durability: try url.durability(), busyTimeout: busy, readOnly: mode == "ro",
            recordsHistory: try url.recordsHistory(), checksAtOpening: try url.isOn("check", default: false), cacheKilobytes: cache,
            checksums: try url.isOn("checksums", default: false), catalog: try SQLiteCatalog(url))
    }

    /// Creates a store in a file. The file is opened when the store is added to a stack.
    public convenience init(
        fileURL: URL, configuration: String? = nil, localStorageOptions: LocalStorageOptions = [],
        migrationMappingProviders: [any SchemaMappingProvider] = []
    ) {
        self.init(
            path: fileURL.path, configuration: configuration, localStorageOptions: localStorageOptions,
            migrationMappingProviders: migrationMappingProviders)
    }

    /// The location of the file.
    public var fileURL: URL { URL(fileURLWithPath: path) }

    /// The capabilities of a SQLite store.
    public var capabilities: StorageCapabilities {
        StorageCapabilities(owner.capabilities, maximumValueBytes: 1_000_000_000, maximumColumns: 1990)
    }

    /// Opens the file, or creates it if it does not exist.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        let state = try openUnchecked(request)
        if !checksAtOpening { return state }
        do throws(StorageError) { try check() } catch {
            try? close()
            throw error
        }
        return state
    }

    private func openUnchecked(_ request: OpenRequest) throws(StorageError) -> StorageState {
        if opened.withLock({ $0 != nil }) { throw StorageError(.alreadyExists, "the store is already open") }
        if place.checksums == .required, !owner.isPolystore {
            throw StorageError(.invalidConfiguration, "checksums are only available for files that Polystore creates; remove the option")
        }
        try Self.checkPath(path)
        let readOnly = request.readOnly || isReadOnly
        let exists = try SQLiteFileIdentity.isDatabaseFile(at: path)
        if !exists, !request.createIfMissing || request.schema == nil || readOnly {
            throw StorageError(.notFound, "there is no SQLite database at this path")
        }
        let origin = FileOrigin(path: path), opening = try owner.open(place, request, readOnly: readOnly)
        try keep(opening)
        if opening.state.wasCreated { self.origin.withLock { $0 = origin } }
        return opening.state
    }

    /// Refuses a path that is not that of a file.
    private static func checkPath(_ path: String) throws(StorageError) {
        // For these paths the engine would open a separate database for each connection. The last one is that of sqlite:///:memory:, as
        // other libraries write it.
        if path.isEmpty || path == ":memory:" || path == "/:memory:" {
            throw StorageError(.invalidConfiguration, "a SQLite store is a file; for a store in memory use InMemoryStore (memory:)")
        }
        if path.hasPrefix("~") { throw StorageError.unexpandedTilde }
    }

    private func keep(_ opening: SQLOpening<SQLiteCore>) throws(StorageError) {
        let isFirst = opened.withLock { opened in
            if opened != nil { return false }
            opened = opening.core
            return true
        }
        if !isFirst { throw StorageError(.alreadyExists, "the store is already open") }
        isReadOnlyNow.store(opening.isReadOnly, ordering: .releasing)
        foreignRemarks.withLock { $0 = opening.remarks }
    }

    /// The use of a file of another program, by the option `catalog`; nil for a store that Polystore creates.
    public var foreignAccess: ForeignAccess? { owner.foreignAccess }

    /// The remarks on parts of another program's file that are left out or read differently from their declaration.
    public var remarks: [String] { foreignRemarks.withLock { $0.map(\.text) } }

    /// The stored data of another program's file that is not read.
    public var losses: [String] { foreignRemarks.withLock { $0.compactMap(\.loss) } }

    private let isReadOnlyNow = Atomic(false)

    private func core() throws(StorageError) -> SQLiteCore {
        guard let core = opened.withLock({ $0 }) else {
            throw StorageError(.storeClosed, "the store is not open; add it to a stack, or call open")
        }
        return core
    }

    /// Whether the rows have the format that Polystore writes.
    var isPolystore: Bool { owner.isPolystore }

    /// Returns the identity of the open store.
    func storeID() throws(StorageError) -> UUID { try core().storeID }

    /// Begins a session that reads one snapshot.
    public func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader {
        let core = try core()
        return try core.beginning { () throws(StorageError) in
            let connection = try core.readers.take()
            do throws(StorageError) {
                connection.waiting.isClosed = { core.isClosed }
                defer { connection.waiting.isClosed = { false } }
                // BEGIN alone does not take a snapshot; the first read does.
                try connection.begin("BEGIN", options.limit)
                try core.check(connection)
            } catch {
                connection.end()
                core.readers.give(connection)
                throw error
            }
            return core.reader(connection)
        }
    }

    /// Begins the write transaction after waiting for the previous one to end.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        let core = try core()
        if isReadOnlyNow.load(ordering: .acquiring) { throw owner.refusal }
        return try core.beginning { () throws(StorageError) in
            let (connection, options) = try core.writer.enter(options) { core.isClosed }
            do throws(StorageError) {
                connection.wait(min(options.timeout, place.busyTimeout))
                if core.writer.flush != nil { try connection.waitForDisk(atCommit: false) }
                connection.waiting.isClosed = { core.isClosed }
                defer { connection.waiting.isClosed = { false } }
                try connection.begin("BEGIN IMMEDIATE", options.limit)
                try connection.openLog()
                try core.check(connection)
                return try core.session(connection, options)
            } catch {
                connection.end()
                core.writer.leave()
                throw error
            }
        }
    }

    /// Reports commits of other connections: those of Polystore, and those of other programs that write to the file.
    ///
    /// For a file that another program created, every change is reported as `.unknown`. For a file that is used in place, every change of
    /// its tables is reported as `.history`, including changes made through this store.
    public func watchChanges(_ handler: @escaping @Sendable (ChangeSignal) -> Void) throws(StorageError) -> (any ChangeWatch)? {
        try watching(core()).watch(handler)
    }

    private func watching(_ core: SQLiteCore) -> FileStoreWatcher {
        let commits = core.writer.commits
        return watcher.withLock { held in
            if let held { return held }
            let watcher = SQLiteWatch.watcher(place, owner.evidence, commits)
            held = watcher
            return watcher
        }
    }

    /// The number of times that the file was checked for changes, for tests.
    package var looks: Int { watcher.withLock { $0 }?.looks ?? 0 }

    /// Returns the statements of a migration step.
    public func explanation(of step: MigrationStep, after earlier: [MigrationStep]) throws(StorageError) -> [String] {
        try owner.checkOwn()
        let metadata = try core().metadata.after(earlier)
        try metadata.check(step)
        return SQLMigration(step, from: metadata, to: StoreMetadata(migrating: metadata, step.mapping), .sqlite).lines()
    }

    /// Begins a migration of the file to another version of the model, in one transaction.
    public func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> any StorageMigration {
        let core = try core()
        try owner.checkOwn()
        if isReadOnlyNow.load(ordering: .acquiring) { throw StorageError(.readOnly, "the store was opened read-only") }
        return try core.beginning { () throws(StorageError) in try migration(step, core, options) }
    }

    private func migration(
        _ step: MigrationStep, _ core: SQLiteCore, _ options: WriteOptions
    ) throws(StorageError) -> any StorageMigration {
        let (connection, options) = try core.writer.enter(options) { core.isClosed }
        do throws(StorageError) {
            connection.wait(options.timeout)
            connection.waiting.isClosed = { core.isClosed }
            defer { connection.waiting.isClosed = { false } }
            try connection.waitForDisk(atCommit: true)
            try connection.begin("BEGIN IMMEDIATE", options.limit)
            var metadata = try StoreMetadata(entries: SQLiteSetup(connection).entries())
            metadata.history.isOn = recordsHistory
            try metadata.check(step)
            return try SQLiteMigration(step, metadata, core, connection) { [weak self] next in
                // The store may have been closed in the meantime.
                self?.opened.withLock { if $0 === core { $0 = next } }
            }
        } catch {
            connection.end()
            core.writer.leave()
            throw error
        }
    }

    /// Returns the first bytes of a file that this process may have open as a database: the engine reads them, because it knows which locks
    /// to keep.
    package static func head(of path: String, count: Int) throws(StorageError) -> [UInt8] {
        try SQLiteConnection(path: path, readOnly: true, create: false).head(count)
    }

    /// Returns the size of the file and its write-ahead log in bytes.
    public func fileSize() throws(StorageError) -> Int {
        guard let size = Self.size(of: [path, path + "-wal"]) else {
            throw StorageError(.notFound, "there is no SQLite database at this path")
        }
        return size
    }

    /// Rewrites the file without gaps (VACUUM) and empties the write-ahead log.
    public func compact() throws(StorageError) {
        let core = try core()
        if isReadOnlyNow.load(ordering: .acquiring) { throw owner.refusal }
        let (connection, _) = try core.writer.enter(WriteOptions()) { core.isClosed }
        defer { core.writer.leave() }
        try core.writer.commits.reshape { () throws(StorageError) in try core.vacuum(connection) }
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Copies one committed snapshot, page by page, to a file that must not exist yet.
    public func backup(to url: URL) throws(StorageError) {
        let core = try core()
        try Self.writeCopy(to: url) { path throws(StorageError) in
            let connection = try core.readers.take()
            defer { core.readers.give(connection) }
            try connection.copy(to: path)
        }
    }

    /// Closes the file.
    public func close() throws(StorageError) {
        let core = opened.withLock { opened in
            defer { opened = nil }
            return opened
        }
        let watcher = watcher.withLock { watcher in
            defer { watcher = nil }
            return watcher
        }
        watcher?.close()
        core?.close()
    }

    /// Closes the file and removes it together with the files beside it. A file with tables of other programs stays without those of the
    /// store. For a file of another program that is used in place, only Polystore's own tables and triggers are removed, and for any other
    /// file of another program nothing. A symbolic link to the file stays.
    ///
    /// - Throws: `readOnly` if the store refuses changes; `notADatabase` if the file is not a store; `unsupported` if a view or a foreign key
    ///   of another program depends on a table. Nothing is removed then.
    public func erase() throws(StorageError) {
        let isOpen = opened.withLock { $0 != nil }
        if isReadOnly || isOpen && isReadOnlyNow.load(ordering: .acquiring) { throw owner.refusal }
        try owner.erase(place, close)
    }
}

extension SQLiteStore: WithdrawableStorage {
    package func withdraw() throws(StorageError) {
        try close()
        guard owner.isPolystore, let origin = origin.withLock({ $0 }) else { return }
        try SQLiteErasure(place).run(returningTo: origin, ifUnused: true)
    }
}

extension SQLiteStore: SynchronizingStorage {
    /// Waits until the log is on the disk. Without `durability=full`, the engine writes commits to the log and does not wait.
    public func synchronize() throws(StorageError) {
        // A log that no longer exists was copied to the database file, which the engine has synchronized.
        if place.durability == .full { return }
        try SQLiteLogFile(ofFileAt: path)?.flush()
    }
}

extension SQLiteStore: CustomDebugStringConvertible {
    /// The path of the file, the configuration, and whether the store refuses changes.
    public var debugDescription: String { "SQLiteStore \(path) (\(configuration ?? "all entities"))\(isReadOnly ? " read-only" : "")" }
}
#endif
