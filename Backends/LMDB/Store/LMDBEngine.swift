#if LMDB
internal import CLMDB
internal import Foundation
internal import PolystoreKeyValue
internal import PolystoreStorage
internal import Synchronization

/// LMDB as an engine of ordered maps.
final class LMDBEngine: OrderedStore {
    private struct State: Sendable {
        var environment: LMDBEnvironment?
        var isReadOnly = false
        var names: [String] = []
        var handles: [MDB_dbi] = []
    }

    private let path: String
    private let mapSize: Int
    private let firstMap: Int
    private let durability: Durability
    private let usesFolder: Bool
    private let state = Mutex(State())

    let maximumKeyBytes = 511
    let checksRecords = true
    let maximumValueBytes = Int(UInt32.max) - 4096

    init(path: String, mapSize: Int, firstMap: Int, durability: Durability, usesFolder: Bool) {
        self.path = path
        self.mapSize = mapSize
        self.firstMap = firstMap
        self.durability = durability
        self.usesFolder = usesFolder
    }

    func open(_ request: OrderedOpen) throws(StorageError) -> Bool {
        let existed = try LMDBFile(path: path, usesFolder: usesFolder).check(request)
        if usesFolder, request.create { try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        let environment = try LMDBEnvironment(
            path: path, limit: mapSize, first: firstMap, durability: durability, usesFolder: usesFolder, request)
        state.withLock { $0 = State(environment: environment, isReadOnly: request.readOnly) }
        return existed
    }

    /// Handles are made in a transaction that commits: those of one that is undone would be closed with it.
    func prepare(maps: [String]) throws(StorageError) -> [String: Int] {
        let (environment, before) = try opened()
        let missing = maps.filter { !before.names.contains($0) }
        if missing.isEmpty { return numbers }
        let transaction = try environment.begin(readOnly: before.isReadOnly)
        defer { environment.end() }
        var handles: [MDB_dbi] = []
        for name in missing {
            var handle: MDB_dbi = 0
            let code = mdb_dbi_open(transaction, name, before.isReadOnly ? 0 : UInt32(MDB_CREATE), &handle)
            if code != MDB_SUCCESS {
                mdb_txn_abort(transaction)
                throw code == MDB_NOTFOUND
                    ? StorageError(.notADatabase, "the LMDB file holds no Polystore data") : LMDBError.error(code)
            }
            handles.append(handle)
        }
        try LMDBError.check(mdb_txn_commit(transaction))
        state.withLock { [missing, handles] state in
            state.names += missing
            state.handles += handles
        }
        return numbers
    }

    private var numbers: [String: Int] {
        state.withLock { Dictionary($0.names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first }) }
    }

    /// The number of maps is fixed when the file is opened.
    func reopen(mapCount: Int) throws(StorageError) {
        let isReadOnly = try unused()
        close()
        _ = try open(OrderedOpen(create: false, readOnly: isReadOnly, mapCount: mapCount))
    }

    /// Whether the file is open for reading only. In a function of its own, because nothing may hold the file when it is opened again.
    @inline(never)
    private func unused() throws(StorageError) -> Bool {
        let (environment, state) = try opened()
        if environment.isInUse { throw StorageError(.busy, "sessions of the LMDB store are open; end them before its model changes") }
        return state.isReadOnly
    }

    func remove(maps: [String]) throws(StorageError) {
        let (environment, _) = try opened()
        let transaction = try environment.begin(readOnly: false)
        defer { environment.end() }
        for name in maps {
            var handle: MDB_dbi = 0
            guard mdb_dbi_open(transaction, name, 0, &handle) == MDB_SUCCESS else { continue }
            mdb_drop(transaction, handle, 1)
        }
        try LMDBError.check(mdb_txn_commit(transaction))
    }

    func read() throws(StorageError) -> any OrderedReader {
        let (environment, state) = try opened()
        return LMDBReader(environment, try environment.begin(readOnly: true), state.handles)
    }

    func write(_ options: WriteOptions) throws(StorageError) -> any OrderedWriter {
        let (environment, state) = try opened()
        return LMDBWriter(environment, try environment.begin(readOnly: false), state.handles)
    }

    var isOpen: Bool { state.withLock { $0.environment != nil } }

    private func opened() throws(StorageError) -> (LMDBEnvironment, State) {
        let state = state.withLock { $0 }
        guard let environment = state.environment else { throw StorageError(.storeClosed, "the store was closed") }
        return (environment, state)
    }

    /// Looks at the newest snapshot without a session that could be in anybody's way; nil where there is none, or not now.
    ///
    /// The file cannot be closed meanwhile: nothing may hold it then, because it may be opened again at once.
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

    /// Copies the newest snapshot to a file, leaving freed pages out.
    func copy(to path: String) throws(StorageError) {
        let (environment, _) = try opened()
        try environment.copy(to: path)
    }

    func close() { state.withLock { $0 = State() } }
}
#endif
