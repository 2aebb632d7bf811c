#if LMDB
public import Foundation
internal import PolystoreKeyValue
public import PolystoreStorage

/// A store in an LMDB file: a map of the file in memory, readers without locks, one writer.
public final class LMDBStore: LocalStorage, MigratingStorage, ChangeNotifyingStorage, CommitOutcomeStorage, SynchronizingStorage {
    /// `lmdb`.
    public static let storeType = "lmdb"

    /// One tebibyte: the map is sparse, so address space is all that it takes.
    public static let defaultMapSize = 1 << 40

    /// The configuration whose entities the store keeps; nil for all.
    public let configuration: String?
    private let path: String
    private let usesFolder: Bool
    /// What a stack may do when the file does not fit its model.
    public let localStorageOptions: LocalStorageOptions
    /// What the program says about steps between versions of the model.
    public let migrationMappingProviders: [any SchemaMappingProvider]
    private let engine: LMDBEngine
    private let isReadOnly: Bool
    private let recordsHistory: Bool
    private let store: KeyValueStore
    private let watcher: FileStoreWatcher

    /// A store in a file, which is opened when the store is added to a stack.
    ///
    /// - Parameters:
    ///   - path: The path of the file; its lock lies beside it, with `-lock` behind the name.
    ///   - configuration: The configuration whose entities the store keeps; nil for all.
    ///   - mapSize: The most bytes that the file can have.
    ///   - durability: Whether a commit waits for the disk.
    ///   - readOnly: Whether changes are refused.
    ///   - recordsHistory: Whether what is changed is recorded; a program that does not makes a gap, which ends the history before it.
    ///   - usesFolder: Whether the path is a folder with `data.mdb` and `lock.mdb`.
    ///   - localStorageOptions: What a stack may do when the file does not fit its model.
    ///   - migrationMappingProviders: What the program says about steps between versions of the model.
    public convenience init(
        path: String, configuration: String? = nil, mapSize: Int = LMDBStore.defaultMapSize, durability: Durability = .full,
        readOnly: Bool = false, recordsHistory: Bool = true, usesFolder: Bool = false, localStorageOptions: LocalStorageOptions = [],
        migrationMappingProviders: [any SchemaMappingProvider] = []
    ) {
        self.init(
            path: path, configuration: configuration, mapSize: mapSize, firstMap: mapSize, durability: durability, readOnly: readOnly,
            recordsHistory: recordsHistory, usesFolder: usesFolder, localStorageOptions: localStorageOptions,
            migrationMappingProviders: migrationMappingProviders)
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

    /// Where the file lies, or its folder.
    public var fileURL: URL { URL(fileURLWithPath: path) }

    /// A store whose first map is smaller than the file may become.
    init(
        path: String, configuration: String? = nil, mapSize: Int, firstMap: Int, durability: Durability, readOnly: Bool,
        recordsHistory: Bool = true, usesFolder: Bool, check: LMDBCheck.Extent = .automatic, localStorageOptions: LocalStorageOptions = [],
        migrationMappingProviders: [any SchemaMappingProvider] = []
    ) {
        self.localStorageOptions = localStorageOptions
        self.migrationMappingProviders = migrationMappingProviders
        self.configuration = configuration
        self.path = path
        self.usesFolder = usesFolder
        isReadOnly = readOnly
        self.recordsHistory = recordsHistory
        engine = LMDBEngine(
            path, usesFolder: usesFolder, LMDBSettings(mapSize: mapSize, firstMap: firstMap, durability: durability, check: check))
        store = KeyValueStore(engine, recordsHistory: recordsHistory)
        watcher = LMDBWatch.watcher(engine, store.commits)
    }

    /// The store of a URL: `lmdb:PATH?mapsize=8GiB&mode=ro&durability=full|relaxed&subdir=0|1&history=on|off&check=auto|full`.
    public convenience init(url: StoreURL, configuration: String? = nil) throws(StorageError) {
        try url.unknownOptions(allowed: ["mapsize", "mode", "durability", "subdir", "history", "check"])
        if url.place.isEmpty { throw StorageError(.invalidConfiguration, "an LMDB URL names a file: lmdb:shop.lmdb") }
        let mode = url.option("mode") ?? "rw", subdir = url.option("subdir") ?? "0"
        guard ["ro", "rw"].contains(mode) else { throw StorageError(.invalidConfiguration, "mode is ro or rw") }
        guard ["0", "1"].contains(subdir) else { throw StorageError(.invalidConfiguration, "subdir is 0 or 1") }
        guard let check = LMDBCheck.Extent(rawValue: url.option("check") ?? "auto") else {
            throw StorageError(.invalidConfiguration, "check is auto or full")
        }
        let mapSize = try Self.size(url.option("mapsize"))
        self.init(
            path: url.place, configuration: configuration, mapSize: mapSize, firstMap: mapSize, durability: try url.durability(),
            readOnly: mode == "ro", recordsHistory: try url.recordsHistory(), usesFolder: subdir == "1", check: check)
    }

    /// A size such as `64MiB`; the default when none is given.
    private static func size(_ text: String?) throws(StorageError) -> Int {
        guard let text else { return defaultMapSize }
        let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40), ("", 0)]
        for (unit, shift) in units where text.hasSuffix(unit) {
            guard let number = Int(text.dropLast(unit.count)), number > 0, number < 1 << (60 - shift) else { break }
            return number << shift
        }
        throw StorageError(.invalidConfiguration, "mapsize is a number of bytes, or of KiB, MiB, GiB or TiB")
    }

    /// What LMDB can do.
    public var capabilities: StorageCapabilities {
        var supported: Set<StorageCapabilities.Capability> = [
            .persistent, .multipleProcesses, .snapshotReads, .savepoints, .history, .migrations, .durableCommits, .fullTextIndexes,
            .remoteChanges,
        ]
        if !recordsHistory { supported.remove(.history) }
        return StorageCapabilities(supported, maximumValueBytes: Int(UInt32.max) - 4096, maximumColumns: 4096)
    }

    /// Opens the file, making it where it is missing.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        var request = request
        request.readOnly = request.readOnly || isReadOnly
        return try store.open(request)
    }

    /// Starts to read one snapshot.
    public func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader { try store.beginRead(options) }

    /// Starts the write transaction, waiting for the one before it.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter { try store.beginWrite(options) }

    /// What became of a commit whose end could not be written; the newest 64 are known.
    public func outcome(of token: CommitToken) throws(StorageError) -> CommitOutcome { try store.outcome(of: token) }

    /// Waits until the end of the newest commit is on the disk: without `durability=full` the engine does not wait for that.
    public func synchronize() throws(StorageError) { if engine.durability == .relaxed { try engine.synchronize() } }

    /// What becomes of each map in a step.
    public func explanation(of step: MigrationStep, after earlier: [MigrationStep]) throws(StorageError) -> [String] {
        try store.explanation(of: step, after: earlier)
    }

    /// Starts to lead the store to another version of the model, in one transaction.
    public func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> any StorageMigration {
        try store.beginMigration(step, options)
    }

    /// Signals what other processes commit: through this library, or by other programs that write to the file.
    public func watchChanges(_ handler: @escaping @Sendable (ChangeSignal) -> Void) throws(StorageError) -> (any ChangeWatch)? {
        try watcher.watch(handler)
    }

    /// How often the file was looked at for changes; tests count it.
    package var looks: Int { watcher.looks }

    /// The bytes of the file.
    public func fileSize() throws(StorageError) -> Int {
        guard let size = Self.size(of: [engine.location.dataPath]) else {
            throw StorageError(.notFound, "there is no LMDB store at this path")
        }
        return size
    }

    /// Always throws `unsupported`: LMDB uses freed pages again, but other processes may have the file mapped, so that it cannot be
    /// exchanged under them. A `backup` is a copy without gaps.
    public func compact() throws(StorageError) {
        throw StorageError(.unsupported, "an LMDB file cannot be made smaller in place; a backup is a compact copy of it")
    }

    /// Copies one committed snapshot, without gaps, to a file that does not exist yet.
    public func backup(to url: URL) throws(StorageError) { try Self.writeCopy(to: url, engine.copy) }

    /// Closes the file.
    public func close() throws(StorageError) {
        watcher.close()
        store.close()
    }

    /// Closes the file and removes it with its lock; also its folder, where it has one of its own in which nothing else lies.
    public func erase() throws(StorageError) {
        try close()
        let location = engine.location
        // The lock goes first: a file that another process makes meanwhile must not be locked by one that is about to go.
        for file in [location.lockPath, location.dataPath] where unlink(file) != 0 && errno != ENOENT && errno != ENOTDIR {
            throw LMDBError.error(errno)
        }
        if location.ownsFolder { rmdir(location.folder) }
    }
}
#endif
