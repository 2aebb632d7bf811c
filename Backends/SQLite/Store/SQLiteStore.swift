#if SQLite
public import Foundation
internal import PolystoreSQL
public import PolystoreStorage
internal import Synchronization

/// A store in a SQLite database file.
///
/// The file is an ordinary database of ordinary tables that any tool can read. It is in WAL mode: one writer at a time, readers that
/// never wait for it, and other processes beside this one.
public final class SQLiteStore: LocalStorage, ForeignStorage, MigratingStorage, ChangeNotifyingStorage {
    /// `sqlite`.
    public static let storeType = "sqlite"

    /// The configuration whose entities the store keeps; nil for all.
    public let configuration: String?
    /// The path of the file.
    public var path: String { place.path }
    /// What a stack may do when the file does not fit its model.
    public let localStorageOptions: LocalStorageOptions
    /// What the program says about steps between versions of the model.
    public let migrationMappingProviders: [any SchemaMappingProvider]
    let place: SQLitePlace
    private let isReadOnly: Bool
    private let recordsHistory: Bool
    private let checksAtOpening: Bool
    private let owner: any SQLiteOwner
    private let opened = Mutex<SQLiteCore?>(nil)
    private let foreignRemarks = Mutex<[CatalogRemark]>([])
    private let watcher = Mutex<FileStoreWatcher?>(nil)

    /// A store in a file, which is opened when the store is added to a stack.
    ///
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - configuration: The configuration whose entities the store keeps; nil for all.
    ///   - durability: Whether a commit waits for the disk.
    ///   - busyTimeout: Seconds to wait for other connections.
    ///   - readOnly: Whether changes are refused.
    ///   - recordsHistory: Whether what is changed is recorded; a program that does not makes a gap, which ends the history before it.
    ///   - localStorageOptions: What a stack may do when the file does not fit its model.
    ///   - migrationMappingProviders: What the program says about steps between versions of the model.
    ///   - checksAtOpening: Whether `open` looks for damage, as `check` does, which takes about as long as reading everything.
    ///   - cacheKilobytes: The pages of the file that each connection keeps in memory.
    ///   - checksums: Whether a new file gets a checksum for each page, which shows damage when the page is read. A file that has them keeps
    ///     them in any case; one that was made without them is refused (`invalidConfiguration`), as is a file of another program.
    ///   - catalog: Who made the tables; a file that another program made is read-only, unless it is used in place.
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

    /// The store of a URL:
    /// `sqlite:PATH?mode=ro&durability=full|relaxed&busy=SECONDS&history=on|off&check=on|off&cache=KILOBYTES&checksums=on|off`, and for the
    /// file of another program `sqlite:PATH?catalog=foreign`, `sqlite:PATH?catalog=inplace` or `sqlite:PATH?catalog=coredata&model=X.xcdatamodeld`.
    public convenience init(url: StoreURL, configuration: String? = nil) throws(StorageError) {
        try url.unknownOptions(allowed: ["mode", "durability", "busy", "history", "check", "cache", "checksums", "catalog", "model"])
        if url.place.isEmpty { throw StorageError(.invalidConfiguration, "a SQLite URL names a file: sqlite:shop.db") }
        let mode = url.option("mode") ?? "rw"
        guard ["ro", "rw"].contains(mode) else { throw StorageError(.invalidConfiguration, "mode is ro or rw") }
        guard let busy = TimeInterval(url.option("busy") ?? "10"), busy >= 0 else {
            throw StorageError(.invalidConfiguration, "busy is a number of seconds")
        }
        guard let cache = Int(url.option("cache") ?? "65536"), (1...1_000_000_000).contains(cache) else {
            throw StorageError(.invalidConfiguration, "cache is a number of kilobytes from 1 on")
        }
        self.init(
            path: url.place, configuration: configuration, durability: try url.durability(), busyTimeout: busy, readOnly: mode == "ro",
            recordsHistory: try url.recordsHistory(), checksAtOpening: try url.isOn("check", default: false), cacheKilobytes: cache,
            checksums: try url.isOn("checksums", default: false), catalog: try SQLiteCatalog(url))
    }

    /// A store in a file, which is opened when the store is added to a stack.
    public convenience init(
        fileURL: URL, configuration: String? = nil, localStorageOptions: LocalStorageOptions = [],
        migrationMappingProviders: [any SchemaMappingProvider] = []
    ) {
        self.init(
            path: fileURL.path, configuration: configuration, localStorageOptions: localStorageOptions,
            migrationMappingProviders: migrationMappingProviders)
    }

    /// Where the file lies.
    public var fileURL: URL { URL(fileURLWithPath: path) }

    /// What SQLite can do.
    public var capabilities: StorageCapabilities {
        StorageCapabilities(owner.capabilities, maximumValueBytes: 1_000_000_000, maximumColumns: 1990)
    }

    /// Opens the file, making it where it is missing.
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
            throw StorageError(.invalidConfiguration, "checksums are for files that this library makes; leave the option out")
        }
        // The engine would give each connection a database of its own.
        if path.isEmpty || path == ":memory:" {
            throw StorageError(.invalidConfiguration, "a SQLite store is a file; for a store in memory there is InMemoryStore (memory:)")
        }
        let readOnly = request.readOnly || isReadOnly
        var isFolder: ObjCBool = false
        let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
        // The system opens a folder for reading, and the engine fails later.
        if isFolder.boolValue { throw StorageError(.notADatabase, "the path is a folder, not a SQLite database") }
        if !exists, !request.createIfMissing || request.schema == nil || readOnly {
            throw StorageError(.notFound, "there is no SQLite database at this path")
        }
        let opening = try owner.open(place, request, readOnly: readOnly)
        try keep(opening)
        return opening.state
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

    /// What of a file of another program is left out or read otherwise than it is declared there.
    public var remarks: [String] { foreignRemarks.withLock { $0.map(\.text) } }

    /// What of a file of another program is stored there and not read.
    public var losses: [String] { foreignRemarks.withLock { $0.compactMap(\.loss) } }

    private let isReadOnlyNow = Atomic(false)

    private func core() throws(StorageError) -> SQLiteCore {
        guard let core = opened.withLock({ $0 }) else {
            throw StorageError(.storeClosed, "the store is not open; add it to a stack or call open")
        }
        return core
    }

    /// Whether the rows are as this library writes them.
    var isPolystore: Bool { owner.isPolystore }

    /// The identity of the store that is open.
    func storeID() throws(StorageError) -> UUID { try core().storeID }

    /// Starts to read one snapshot.
    public func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader {
        let core = try core()
        let connection = try core.readers.take()
        do throws(StorageError) {
            // BEGIN alone takes no snapshot: the first read does.
            try connection.begin("BEGIN", options.limit)
            try core.check(connection)
        } catch {
            connection.end()
            core.readers.give(connection)
            throw error
        }
        return core.reader(connection)
    }

    /// Starts the write transaction, waiting for the one before it.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter {
        let core = try core()
        if isReadOnlyNow.load(ordering: .acquiring) { throw owner.refusal }
        let (connection, options) = try core.writer.enter(options)
        do throws(StorageError) {
            connection.wait(min(options.timeout, place.busyTimeout))
            try connection.begin("BEGIN IMMEDIATE", options.limit)
            try core.check(connection)
            return try core.session(connection, options)
        } catch {
            connection.end()
            core.writer.leave()
            throw error
        }
    }

    /// Signals what other connections commit: through this library, or by other programs that write to the file.
    ///
    /// Of a file that another program made, every change is `.unknown`; of one that is used in place, every change of its tables is
    /// `.history`, also one that is made here.
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

    /// How often the file was looked at for changes; tests count it.
    package var looks: Int { watcher.withLock { $0 }?.looks ?? 0 }

    /// The statements of a step.
    public func explanation(of step: MigrationStep, after earlier: [MigrationStep]) throws(StorageError) -> [String] {
        try owner.checkOwn()
        let metadata = try core().metadata.after(earlier)
        try metadata.check(step)
        return SQLMigration(step, from: metadata, to: StoreMetadata(migrating: metadata, step.mapping), .sqlite).lines()
    }

    /// Starts to lead the file to another version of the model, in one transaction.
    public func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> any StorageMigration {
        let core = try core()
        try owner.checkOwn()
        if isReadOnlyNow.load(ordering: .acquiring) { throw StorageError(.readOnly, "the store was opened for reading only") }
        let (connection, options) = try core.writer.enter(options)
        do throws(StorageError) {
            connection.wait(options.timeout)
            try connection.begin("BEGIN IMMEDIATE", options.limit)
            var metadata = try StoreMetadata(entries: SQLiteSetup(connection).entries())
            metadata.history.isOn = recordsHistory
            try metadata.check(step)
            return try SQLiteMigration(step, metadata, core, connection) { [weak self] next in self?.opened.withLock { $0 = next } }
        } catch {
            connection.end()
            core.writer.leave()
            throw error
        }
    }

    /// The first bytes of a file, which may be a database that this process has open: the engine knows which locks to keep.
    package static func head(of path: String, count: Int) throws(StorageError) -> [UInt8] {
        try SQLiteConnection(path: path, readOnly: true, create: false).head(count)
    }

    /// The bytes of the file and its write-ahead log.
    public func fileSize() throws(StorageError) -> Int {
        guard let size = Self.size(of: [path, path + "-wal"]) else {
            throw StorageError(.notFound, "there is no SQLite database at this path")
        }
        return size
    }

    /// Writes the file anew without gaps (VACUUM) and empties the write-ahead log.
    public func compact() throws(StorageError) {
        let core = try core()
        if isReadOnlyNow.load(ordering: .acquiring) { throw owner.refusal }
        let (connection, _) = try core.writer.enter(WriteOptions())
        defer { core.writer.leave() }
        try core.writer.commits.reshape { () throws(StorageError) in try connection.execute("VACUUM") }
        try connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Copies one committed snapshot, page by page, to a file that does not exist yet.
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

    /// Closes the file and removes it with the files beside it, unless another program made it: of one that is used in place, what lies
    /// beside the tables is removed, and of any other nothing.
    public func erase() throws(StorageError) { try owner.erase(place, close) }
}
#endif
