#if LMDB
public import PolystoreFoundation
internal import PolystoreKeyValue
public import PolystoreStorage

/// A store in an LMDB file, which is mapped into memory, with lock-free readers and one writer.
public final class LMDBStore: LocalStorage, MigratingStorage, ChangeNotifyingStorage, CommitOutcomeStorage, SynchronizingStorage {
    /// The type name of the store, `lmdb`.
    public static let storeType = "lmdb"

    /// The default map size, one tebibyte. The map is sparse, so it only takes address space.
    public static let defaultMapSize = 1 << 40

    /// The configuration whose entities the store contains; nil for all.
    public let configuration: String?
    private let path: String
    private let usesFolder: Bool
    /// The actions that a stack may take when the file does not match its model.
    public let localStorageOptions: LocalStorageOptions
    /// The mappings that the program provides for steps between versions of the model.
    public let migrationMappingProviders: [any SchemaMappingProvider]
    let engine: LMDBEngine
    let isReadOnly: Bool
    private let recordsHistory: Bool
    let store: KeyValueStore
    private let watcher: FileStoreWatcher

    /// Creates a store in a file. The file is opened when the store is added to a stack.
    ///
    /// - Parameters:
    ///   - path: The path of the file. The lock file is beside it, with `-lock` appended to the name.
    ///   - configuration: The configuration whose entities the store contains; nil for all.
    ///   - mapSize: The maximum size of the file in bytes.
    ///   - durability: Whether a commit waits for the disk.
    ///   - readOnly: Whether the store refuses changes.
    ///   - recordsHistory: Whether the store records its changes in the history. A program that does not record them creates a gap, which
    ///     ends the history before it.
    ///   - usesFolder: Whether the path is a folder with `data.mdb` and `lock.mdb`.
    ///   - localStorageOptions: The actions that a stack may take when the file does not match its model.
    ///   - migrationMappingProviders: The mappings that the program provides for steps between versions of the model.
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

    /// Creates a store in a file. The file is opened when the store is added to a stack.
    public convenience init(
        fileURL: URL, configuration: String? = nil, localStorageOptions: LocalStorageOptions = [],
        migrationMappingProviders: [any SchemaMappingProvider] = []
    ) {
        self.init(
            path: fileURL.path, configuration: configuration, localStorageOptions: localStorageOptions,
            migrationMappingProviders: migrationMappingProviders)
    }

    /// The location of the file or of its folder.
    public var fileURL: URL { URL(fileURLWithPath: path) }

    /// Creates a store whose first map is smaller than the maximum size of the file.
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

    /// Creates the store of a URL: `lmdb:PATH?mapsize=8GiB&mode=ro&durability=full|relaxed&subdir=0|1&history=on|off&check=auto|full`.
    public convenience init(url: StoreURL, configuration: String? = nil) throws(StorageError) {
        try url.unknownOptions(allowed: ["mapsize", "mode", "durability", "subdir", "history", "check"])
        if url.place.isEmpty { throw StorageError(.invalidConfiguration, "an LMDB URL requires the path of a file, as in lmdb:shop.lmdb") }
        let mode = url.option("mode") ?? "rw", subdir = url.option("subdir") ?? "0"
        guard ["ro", "rw"].contains(mode) else { throw StorageError(.invalidConfiguration, "the option mode must be ro or rw") }
        guard ["0", "1"].contains(subdir) else { throw StorageError(.invalidConfiguration, "the option subdir must be 0 or 1") }
        guard let check = LMDBCheck.Extent(rawValue: url.option("check") ?? "auto") else {
            throw StorageError(.invalidConfiguration, "the option check must be auto or full")
        }
        let mapSize = try Self.size(url.option("mapsize"))
        self.init(
            path: url.place, configuration: configuration, mapSize: mapSize, firstMap: mapSize, durability: try url.durability(),
            readOnly: mode == "ro", recordsHistory: try url.recordsHistory(), usesFolder: subdir == "1", check: check)
    }

    /// Returns the bytes of a size such as `64MiB`, or the default size for nil.
    private static func size(_ text: String?) throws(StorageError) -> Int {
        guard let text else { return defaultMapSize }
        let units = [("KiB", 10), ("MiB", 20), ("GiB", 30), ("TiB", 40), ("", 0)]
        for (unit, shift) in units where text.hasSuffix(unit) {
            guard let number = Int(text.dropLast(unit.count)), number > 0, number < 1 << (60 - shift) else { break }
            return number << shift
        }
        throw StorageError(.invalidConfiguration, "the option mapsize must be a number of bytes, or of KiB, MiB, GiB or TiB")
    }

    /// The capabilities of an LMDB store.
    public var capabilities: StorageCapabilities {
        var supported: Set<StorageCapabilities.Capability> = [
            .persistent, .multipleProcesses, .snapshotReads, .savepoints, .history, .migrations, .durableCommits, .fullTextIndexes,
            .remoteChanges,
        ]
        if !recordsHistory { supported.remove(.history) }
        return StorageCapabilities(supported, maximumValueBytes: Int(UInt32.max) - 4096, maximumColumns: 4096)
    }

    /// Opens the file, or creates it if it does not exist.
    public func open(_ request: OpenRequest) throws(StorageError) -> StorageState {
        var request = request
        request.readOnly = request.readOnly || isReadOnly
        let state = try store.open(request)
        if engine.origin?.madeFolder == true { try noteFolder() }
        return state
    }

    /// Begins a session that reads one snapshot.
    public func beginRead(_ options: ReadOptions) throws(StorageError) -> any StorageReader { try store.beginRead(options) }

    /// Begins the write transaction after waiting for the previous one to end.
    public func beginWrite(_ options: WriteOptions) throws(StorageError) -> any StorageWriter { try store.beginWrite(options) }

    /// Returns the outcome of a commit whose end could not be written. The store knows the newest 64 commits.
    public func outcome(of token: CommitToken, limit: WorkLimit?) throws(StorageError) -> CommitOutcome {
        try store.outcome(of: token, limit: limit)
    }

    /// Waits until the meta page of the newest commit is on the disk. Without `durability=full` the engine does not wait for it.
    public func synchronize() throws(StorageError) { if engine.durability == .relaxed { try engine.synchronize() } }

    /// Returns a description of the effect of a migration step on each map.
    public func explanation(of step: MigrationStep, after earlier: [MigrationStep]) throws(StorageError) -> [String] {
        try store.explanation(of: step, after: earlier)
    }

    /// Begins a migration of the store to another version of the model, in one transaction.
    public func beginMigration(_ step: MigrationStep, _ options: WriteOptions) throws(StorageError) -> any StorageMigration {
        try store.beginMigration(step, options)
    }

    /// Reports commits of other processes: those of Polystore, and those of other programs that write to the file.
    public func watchChanges(_ handler: @escaping @Sendable (ChangeSignal) -> Void) throws(StorageError) -> (any ChangeWatch)? {
        try watcher.watch(handler)
    }

    /// The number of times that the file was checked for changes, for tests.
    package var looks: Int { watcher.looks }

    /// Returns the size of the file in bytes.
    public func fileSize() throws(StorageError) -> Int {
        guard let size = Self.size(of: [engine.location.dataPath]) else {
            throw StorageError(.notFound, "there is no LMDB store at this path")
        }
        return size
    }

    /// Always throws `unsupported`: LMDB reuses freed pages, but other processes may have mapped the file, so it cannot be replaced while
    /// they use it. A `backup` is a copy without gaps.
    public func compact() throws(StorageError) {
        throw StorageError(.unsupported, "an LMDB file cannot be compacted in place; a backup is a compact copy of it")
    }

    /// Copies one committed snapshot, without gaps, to a file that must not exist yet.
    public func backup(to url: URL) throws(StorageError) { try Self.writeCopy(to: url, engine.copy) }

    /// Closes the file.
    public func close() throws(StorageError) {
        watcher.close()
        store.close()
    }
}

extension LMDBStore: CustomDebugStringConvertible {
    /// The path of the file, the configuration, and whether the store refuses changes.
    public var debugDescription: String { "LMDBStore \(path) (\(configuration ?? "all entities"))\(isReadOnly ? " read-only" : "")" }
}
#endif
