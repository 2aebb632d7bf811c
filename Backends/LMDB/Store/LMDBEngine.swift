#if LMDB
internal import CLMDB
internal import Foundation
internal import PolystoreKeyValue
internal import PolystoreStorage
internal import Synchronization

/// LMDB as an engine of ordered maps.
///
/// Unchecked: the handles are set by `open` before any session exists and are constant until `close`; LMDB's environment may be used by
/// any thread.
final class LMDBEngine: OrderedStore, @unchecked Sendable {
    /// The paths that this process has open: LMDB forbids a second environment of one file in a process, because closing either would
    /// drop the locks of both.
    private static let openPaths = Mutex<Set<String>>([])

    private let path: String
    private let mapSize: Int
    private let durability: Durability
    private let usesFolder: Bool
    private var environment: OpaquePointer?
    private(set) var handles: [MDB_dbi] = []
    private var names: [String] = []
    private var isReadOnly = false

    let maximumKeyBytes = 511
    let maximumValueBytes = Int(UInt32.max) - 4096

    init(path: String, mapSize: Int, durability: Durability, usesFolder: Bool) {
        self.path = path
        self.mapSize = mapSize
        self.durability = durability
        self.usesFolder = usesFolder
    }

    private var realPath: String { URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path }

    func open(_ request: OrderedOpen) throws(StorageError) -> Bool {
        let existed = try LMDBFile(path: path, usesFolder: usesFolder).check(request)
        guard Self.openPaths.withLock({ $0.insert(realPath).inserted }) else {
            throw StorageError(.alreadyExists, "this process has the LMDB store open already; use the open one")
        }
        do throws(StorageError) {
            try create(request)
            return existed
        } catch {
            close()
            throw error
        }
    }

    private func create(_ request: OrderedOpen) throws(StorageError) {
        if usesFolder, request.create { try? FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true) }
        isReadOnly = request.readOnly
        try LMDBError.check(mdb_env_create(&environment))
        try LMDBError.check(mdb_env_set_maxdbs(environment, UInt32(request.mapCount + 8)))
        try LMDBError.check(mdb_env_set_maxreaders(environment, 510))
        try LMDBError.check(mdb_env_set_mapsize(environment, mapSize))
        var flags = UInt32(MDB_NOTLS)
        if !usesFolder { flags |= UInt32(MDB_NOSUBDIR) }
        if request.readOnly { flags |= UInt32(MDB_RDONLY) }
        if durability == .relaxed { flags |= UInt32(MDB_NOSYNC) }
        try LMDBError.check(mdb_env_open(environment, path, flags, 0o640))
    }

    /// Handles are made in a transaction that commits: those of one that is undone would be closed with it.
    func prepare(maps: [String]) throws(StorageError) {
        let missing = maps.filter { !names.contains($0) }
        if missing.isEmpty { return }
        var transaction: OpaquePointer?
        try LMDBError.check(mdb_txn_begin(environment, nil, isReadOnly ? UInt32(MDB_RDONLY) : 0, &transaction))
        var opened: [MDB_dbi] = []
        for name in missing {
            var handle: MDB_dbi = 0
            let code = mdb_dbi_open(transaction, name, isReadOnly ? 0 : UInt32(MDB_CREATE), &handle)
            if code != MDB_SUCCESS {
                mdb_txn_abort(transaction)
                throw code == MDB_NOTFOUND
                    ? StorageError(.notADatabase, "the LMDB file holds no Polystore data") : LMDBError.error(code)
            }
            opened.append(handle)
        }
        try LMDBError.check(mdb_txn_commit(transaction))
        names += missing
        handles += opened
    }

    func read() throws(StorageError) -> any OrderedReader {
        var transaction: OpaquePointer?
        try LMDBError.check(mdb_txn_begin(environment, nil, UInt32(MDB_RDONLY), &transaction))
        return LMDBReader(transaction, handles)
    }

    func write(_ options: WriteOptions) throws(StorageError) -> any OrderedWriter {
        var transaction: OpaquePointer?
        try LMDBError.check(mdb_txn_begin(environment, nil, 0, &transaction))
        return LMDBWriter(transaction, handles, environment)
    }

    func close() {
        guard let environment else {
            _ = Self.openPaths.withLock { $0.remove(realPath) }
            return
        }
        if durability == .relaxed, !isReadOnly { mdb_env_sync(environment, 1) }
        mdb_env_close(environment)
        self.environment = nil
        handles = []
        names = []
        _ = Self.openPaths.withLock { $0.remove(realPath) }
    }
}
#endif
