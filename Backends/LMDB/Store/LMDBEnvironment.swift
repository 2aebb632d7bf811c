#if LMDB
internal import CLMDB
internal import Foundation
internal import PolystoreKeyValue
internal import PolystoreStorage
internal import Synchronization

/// An open file. Sessions hold it, so that closing the store while they are at work does not take the map from under them: the file is
/// closed when the last of them has ended.
///
/// Unchecked: LMDB's environment may be used by any thread; the size of its map is changed only while no session is open.
final class LMDBEnvironment: @unchecked Sendable {
    /// The paths that this process has open: LMDB forbids a second environment of one file in a process, because closing either would
    /// drop the locks of both.
    private static let openPaths = Mutex<Set<String>>([])
    /// The least map that is tried where the address space does not allow a larger one.
    private static let leastMap = 1 << 26

    private struct State {
        var sessions = 0
        var mapSize: Int
        var wantsRoom = false
    }

    let handle: OpaquePointer
    private let registered: String
    private let limit: Int
    private let syncsAtEnd: Bool
    private let state: Mutex<State>

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - limit: The most bytes of the map. The whole of it is mapped at once where the address space allows, which costs nothing; else
    ///     the map begins smaller and grows.
    ///   - first: The bytes of the first map that is tried.
    init(
        path: String, limit: Int, first: Int, durability: Durability, usesFolder: Bool, _ request: OrderedOpen
    ) throws(StorageError) {
        let real = URL(fileURLWithPath: path).standardizedFileURL.resolvingSymlinksInPath().path
        guard Self.openPaths.withLock({ $0.insert(real).inserted }) else {
            throw StorageError(.alreadyExists, "this process has the LMDB store open already; use the open one, or end its sessions")
        }
        var flags = UInt32(MDB_NOTLS)
        if !usesFolder { flags |= UInt32(MDB_NOSUBDIR) }
        if request.readOnly { flags |= UInt32(MDB_RDONLY) }
        if durability == .relaxed { flags |= UInt32(MDB_NOSYNC) }
        var size = first
        do throws(StorageError) {
            while true {
                let (code, opened) = Self.open(path, size, flags, request.mapCount)
                if let opened {
                    handle = opened
                    break
                }
                guard code == ENOMEM, size > Self.leastMap else { throw LMDBError.error(code) }
                size = max(size / 4, Self.leastMap)
            }
        } catch {
            _ = Self.openPaths.withLock { $0.remove(real) }
            throw error
        }
        registered = real
        self.limit = limit
        syncsAtEnd = durability == .relaxed && !request.readOnly
        state = Mutex(State(mapSize: size))
    }

    private static func open(_ path: String, _ size: Int, _ flags: UInt32, _ mapCount: Int) -> (Int32, OpaquePointer?) {
        var environment: OpaquePointer?
        var code = mdb_env_create(&environment)
        if code == MDB_SUCCESS { code = mdb_env_set_maxdbs(environment, UInt32(mapCount + 8)) }
        if code == MDB_SUCCESS { code = mdb_env_set_maxreaders(environment, 510) }
        if code == MDB_SUCCESS { code = mdb_env_set_mapsize(environment, size) }
        if code == MDB_SUCCESS { code = mdb_env_open(environment, path, flags, 0o640) }
        if code == MDB_SUCCESS { return (code, environment) }
        if let environment { mdb_env_close(environment) }
        return (code, nil)
    }

    deinit {
        if syncsAtEnd { mdb_env_sync(handle, 1) }
        mdb_env_close(handle)
        _ = Self.openPaths.withLock { $0.remove(registered) }
    }

    /// Begins a transaction; `end` has to follow.
    func begin(readOnly: Bool) throws(StorageError) -> OpaquePointer? {
        try state.withLock { state throws(StorageError) in
            if state.wantsRoom, state.sessions == 0 { try grow(&state) }
            state.sessions += 1
        }
        let flags = readOnly ? UInt32(MDB_RDONLY) : 0
        var transaction: OpaquePointer?
        var code = mdb_txn_begin(handle, nil, flags, &transaction)
        if code == MDB_MAP_RESIZED, state.withLock({ adopt(&$0) }) { code = mdb_txn_begin(handle, nil, flags, &transaction) }
        if code == MDB_SUCCESS { return transaction }
        end()
        throw LMDBError.error(code)
    }

    /// Runs a body that reads the newest snapshot and ends its transaction. Nobody begins or ends a session meanwhile, so that it is none that
    /// keeps the map from growing.
    func look(_ body: (OpaquePointer) throws(StorageError) -> CommitCount) throws(StorageError) -> CommitCount? {
        try state.withLock { state throws(StorageError) in
            var transaction: OpaquePointer?
            var code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
            if code == MDB_MAP_RESIZED, state.sessions == 0, mdb_env_set_mapsize(handle, 0) == MDB_SUCCESS {
                code = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction)
            }
            guard code == MDB_SUCCESS, let transaction else { return nil }
            return try body(transaction)
        }
    }

    /// Copies the newest snapshot to a new file.
    func copy(to path: String) throws(StorageError) {
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o640]),
            let file = FileHandle(forWritingAtPath: path)
        else { throw StorageError(.permissionDenied, "the place of the backup cannot be written to") }
        defer { try? file.close() }
        state.withLock { $0.sessions += 1 }
        defer { end() }
        // The path form would make a folder where the environment is one.
        try LMDBError.check(mdb_env_copyfd2(handle, file.fileDescriptor, UInt32(MDB_CP_COMPACT)))
    }

    /// Whether a transaction is open.
    var isInUse: Bool { state.withLock { $0.sessions > 0 } }

    /// Called once for each transaction that has ended.
    func end() { state.withLock { $0.sessions -= 1 } }

    /// The error of a code. LMDB takes a write that was cut short, as on a full disk, for one that failed (`mdb_page_flush`): the room that is
    /// left tells.
    func error(_ code: Int32) -> StorageError {
        var place = statvfs()
        let isFull = code == EIO && statvfs(registered, &place) == 0 && UInt64(place.f_bavail) * UInt64(place.f_frsize) < 1 << 20
        return LMDBError.error(isFull ? ENOSPC : code)
    }

    /// What a full map means: the transaction runs again in a larger one, as far as the limit allows.
    func full() -> StorageError {
        let canGrow = state.withLock { state in
            state.wantsRoom = state.mapSize < limit
            return state.wantsRoom
        }
        if !canGrow { return LMDBError.error(MDB_MAP_FULL) }
        return StorageError(.serializationFailure, "the map of the LMDB store grows when no session is open; run the transaction again")
    }

    private func grow(_ state: inout State) throws(StorageError) {
        let size = min(state.mapSize * 2, limit)
        let code = mdb_env_set_mapsize(handle, size)
        if code == ENOMEM { throw LMDBError.error(MDB_MAP_FULL) }
        try LMDBError.check(code)
        state.mapSize = size
        state.wantsRoom = false
    }

    /// Takes over the size that another process has given to the map, if this session is alone.
    private func adopt(_ state: inout State) -> Bool { state.sessions == 1 && mdb_env_set_mapsize(handle, 0) == MDB_SUCCESS }
}
#endif
