#if LMDB
internal import CLMDB
internal import PolystoreFoundation
internal import PolystoreKeyValue
internal import PolystoreStorage
internal import Synchronization

/// LMDB as an engine of ordered maps.
final class LMDBEngine: OrderedStore {
    private struct State: Sendable {
        var environment: LMDBEnvironment?
        var request = OrderedOpen(create: false, readOnly: false, mapCount: 0)
        var origin: LMDBLocation.Origin?
        /// The names of the maps by their numbers; nil for a removed map.
        var names: [String?] = []
        var handles: [MDB_dbi] = []
    }

    private let path: String
    private let usesFolder: Bool
    private let settings: LMDBSettings
    private let state = Mutex(State())

    let maximumKeyBytes = 511
    let checksRecords = true
    let maximumValueBytes = Int(UInt32.max) - 4096

    init(_ path: String, usesFolder: Bool, _ settings: LMDBSettings) {
        self.path = path
        self.usesFolder = usesFolder
        self.settings = settings
    }

    /// Whether a commit waits for the disk.
    var durability: Durability { settings.durability }

    /// The location of the files, which may not exist yet.
    var location: LMDBLocation { LMDBLocation(path, usesFolder: usesFolder) }

    func open(_ request: OrderedOpen) throws(StorageError) -> Bool {
        let location = location, origin = try location.prepare(request, firstMap: settings.firstMap)
        let environment = try LMDBEnvironment(location, settings, request)
        state.withLock { $0 = State(environment: environment, request: request, origin: origin) }
        return origin == nil
    }

    /// Whether the file is open and refuses changes.
    var isReadOnly: Bool { state.withLock { $0.request.readOnly } }

    /// The state of the location before this instance created the file; nil if it did not.
    var origin: LMDBLocation.Origin? { state.withLock { $0.origin } }

    func prepare(maps: [String]) throws(StorageError) -> [String: Int] {
        let (environment, before) = try opened()
        let missing = maps.filter { !before.names.contains($0) }
        if missing.isEmpty { return numbers }
        let handles = try environment.handles(missing, create: !before.request.readOnly)
        try state.withLock { state throws(StorageError) in
            // The store may have been closed, and opened again, in the meantime.
            guard state.environment === environment else { throw Self.closed }
            state.names += missing
            state.handles += handles
        }
        return numbers
    }

    /// Whether the file has data besides the maps that were prepared.
    func hasOtherData() throws(StorageError) -> Bool {
        let names = state.withLock { $0.names }
        return try begin { environment, _ throws(StorageError) in try environment.hasData(besides: Set(names.compactMap { $0 })) }
    }

    private var numbers: [String: Int] {
        state.withLock { state in
            Dictionary(
                state.names.enumerated().compactMap { number, name in name.map { ($0, number) } }, uniquingKeysWith: { first, _ in first })
        }
    }

    /// Opens the file again, because the number of maps is fixed when a file is opened. Known maps keep their numbers, for sessions that
    /// begin in the meantime.
    @inline(never)
    func reopen(mapCount: Int) throws(StorageError) {
        try state.withLock { state throws(StorageError) in
            guard let environment = state.environment else { throw Self.closed }
            guard environment.closeIfUnused() else {
                throw StorageError(.busy, "sessions of the LMDB store are open; end them before migrating it")
            }
            state.request.mapCount = mapCount + state.names.count
            try openAgain(&state)
        }
    }

    private func openAgain(_ state: inout State) throws(StorageError) {
        let environment = try LMDBEnvironment(location, settings, state.request)
        state.handles = try environment.handles(found: state.names)
        state.environment = environment
    }

    func remove(maps: [String]) throws(StorageError) {
        let (environment, _) = try opened()
        // Even on failure, because removing a map in a transaction invalidates its handle immediately.
        defer {
            state.withLock { state in
                for (number, name) in state.names.enumerated() where name.map(maps.contains) == true {
                    state.names[number] = nil
                    state.handles[number] = LMDBEnvironment.noMap
                }
            }
        }
        try environment.remove(maps)
    }

    func read(_ options: ReadOptions) throws(StorageError) -> any OrderedReader {
        try begin { environment, handles throws(StorageError) in
            LMDBReader(environment, try environment.beginRead(options.limit), handles)
        }
    }

    func write(_ options: WriteOptions) throws(StorageError) -> any OrderedWriter {
        try begin { environment, handles throws(StorageError) in
            LMDBWriter(environment, try environment.beginWrite(options), handles)
        }
    }

    /// Begins a session or reads the file, and repeats the attempt if the file has to be opened again.
    private func begin<Result>(
        _ body: (LMDBEnvironment, [MDB_dbi]) throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        while true {
            let (environment, state) = try opened()
            do throws(StorageError) {
                return try body(environment, state.handles)
            } catch {
                if !environment.isOver { throw error }
            }
        }
    }

    var isOpen: Bool { state.withLock { $0.environment != nil } }

    private func opened() throws(StorageError) -> (LMDBEnvironment, State) {
        let state = state.withLock { $0 }
        guard let environment = state.environment else { throw Self.closed }
        return environment.isOver ? try renewed() : (environment, state)
    }

    private static let closed = StorageError(.storeClosed, "the store was closed")

    /// Opens the file again if it was closed or LMDB has failed. Open sessions keep the old environment; there cannot be two environments
    /// of one file.
    @inline(never)
    private func renewed() throws(StorageError) -> (LMDBEnvironment, State) {
        try state.withLock { state throws(StorageError) in
            guard let environment = state.environment else { throw Self.closed }
            if !environment.isOver { return (environment, state) }
            guard environment.closeIfUnused() else { throw LMDBEnvironment.reopening }
            try openAgain(&state)
            return (state.environment ?? environment, state)
        }
    }

    /// Reads the newest snapshot without a session that could block other operations; nil where there is none, or it cannot be read now.
    ///
    /// The engine's lock keeps the file open during the call. The reader holds no reference to the environment, because the file may be
    /// closed and opened again immediately afterwards.
    func look(
        _ body: @Sendable (LMDBReader, _ commits: Int64) throws(StorageError) -> CommitCount
    ) throws(StorageError) -> CommitCount? {
        try state.withLock { state throws(StorageError) in
            guard let environment = state.environment, state.handles.count >= KeyValueStore.ownMapCount else { return nil }
            return try environment.look { transaction throws(StorageError) in
                let reader = LMDBReader(nil, transaction, state.handles)
                defer { reader.end() }
                return try body(reader, Int64(mdb_txn_id(transaction)))
            }
        }
    }

    /// Copies the newest snapshot to a file, without its free pages.
    func copy(to path: String) throws(StorageError) {
        try begin { environment, _ throws(StorageError) in try environment.copy(to: path) }
    }

    /// Waits until the current contents of the file are durable.
    func synchronize() throws(StorageError) { try opened().0.synchronize() }

    func close() {
        state.withLock { state in
            state.environment?.abandon()
            // Even if a session that begins still refers to it: the store may be opened again at once.
            _ = state.environment?.closeIfUnused()
            state = State()
        }
    }
}
#endif
