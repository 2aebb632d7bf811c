#if LMDB
internal import CLMDB
internal import PolystoreFoundation
internal import PolystoreKeyValue
internal import PolystoreStorage
internal import Synchronization

/// An open file. Sessions reference it, so that closing the store does not unmap the file while they are active: the file is closed when
/// the last session has ended.
///
/// Unchecked: LMDB's environment may be used by any thread. The size of its map is changed, and the environment closed, only while no
/// session is open.
final class LMDBEnvironment: @unchecked Sendable {
    /// The files that this process has open. LMDB forbids a second environment of a file in a process, because closing either one would
    /// drop the locks of both.
    private static let openFiles = Mutex<Set<LMDBFile.Identity>>([])
    /// The number of write transactions between two checks for dead readers.
    private static let writesPerReaderCheck = 16

    private struct State {
        var sessions = 0
        var mapSize: Int
        var wantsRoom = false
        var writes = 0
        var isClosed = false
        var hasFailed = false
    }

    let handle: OpaquePointer
    private let file: LMDBFile
    private let limit: Int
    private let syncsAtEnd: Bool
    /// Whether readers are recorded in the lock file. Where the lock file cannot be written, readers lock the data file against writers
    /// instead.
    private let isRegistering: Bool
    /// The lock file of the environment; nil for none.
    private let lockFile: LMDBFile.Identity?
    private let state: Mutex<State>
    /// The number of readers that hold the shared lock of the file.
    private let sharers = Mutex(0)

    /// Opens an existing file after checking it.
    init(_ location: LMDBLocation, _ settings: LMDBSettings, _ request: OrderedOpen) throws(StorageError) {
        let file = try LMDBFile(location, isReadOnly: request.readOnly)
        // A file that was replaced leaves its lock file to the new one.
        let isFree = Self.openFiles.withLock { open in
            LMDBFile.Identity(path: location.lockPath).map { open.contains($0) } != true && open.insert(file.identity).inserted
        }
        guard isFree else {
            throw StorageError(
                .alreadyExists,
                "the LMDB store, or the file that it replaced, is already open in this process; use the open store, or end its sessions")
        }
        let mapSize: Int
        do throws(StorageError) {
            try LMDBCheck.run(file, settings.check)
            (handle, mapSize, isRegistering) = try Self.open(file, settings, request)
        } catch {
            _ = Self.openFiles.withLock { $0.remove(file.identity) }
            throw error
        }
        lockFile = isRegistering ? LMDBFile.Identity(path: location.lockPath) : nil
        if let lockFile { _ = Self.openFiles.withLock { $0.insert(lockFile) } }
        state = Mutex(State(mapSize: mapSize))
        self.file = file
        limit = settings.mapSize
        syncsAtEnd = settings.durability == .relaxed && !request.readOnly
        clearDeadReaders()
    }

    private static func open(
        _ file: LMDBFile, _ settings: LMDBSettings, _ request: OrderedOpen
    ) throws(StorageError) -> (handle: OpaquePointer, mapSize: Int, isRegistering: Bool) {
        var flags = UInt32(MDB_NOTLS)
        if !file.location.usesFolder { flags |= UInt32(MDB_NOSUBDIR) }
        if request.readOnly { flags |= UInt32(MDB_RDONLY) }
        // The data of a commit is on the disk before the meta page that makes it valid: after a power failure the newest commits may be
        // missing.
        if settings.durability == .relaxed { flags |= UInt32(MDB_NOMETASYNC) }
        func open(_ flags: UInt32) throws(StorageError) -> (handle: OpaquePointer, mapSize: Int) {
            try LMDBHandle.open(file.location.path, flags, firstMap: settings.firstMap, mapCount: request.mapCount, mode: file.mode)
        }
        do throws(StorageError) {
            let opened = try open(flags)
            do throws(StorageError) {
                return (opened.handle, opened.mapSize, try LMDBHandle.isRegistering(opened.handle, file))
            } catch {
                mdb_env_close(opened.handle)
                throw error
            }
        } catch  where error.code == .permissionDenied && request.readOnly {
            let opened = try open(flags | UInt32(MDB_NOLOCK))
            return (opened.handle, opened.mapSize, false)
        }
    }

    deinit { _ = closeIfUnused() }

    /// Closes the file unless a session is open. Returns whether it is closed.
    @inline(never)
    func closeIfUnused() -> Bool {
        state.withLock { state in
            if state.sessions == 0, !state.isClosed {
                state.isClosed = true
                close()
            }
            return state.isClosed
        }
    }

    private func close() {
        if syncsAtEnd { mdb_env_sync(handle, 1) }
        mdb_env_close(handle)
        Self.openFiles.withLock { open in
            open.remove(file.identity)
            if let lockFile { open.remove(lockFile) }
        }
    }

    /// Begins a read transaction. The caller must call `endRead` afterwards.
    func beginRead(_ limit: WorkLimit?) throws(StorageError) -> OpaquePointer {
        try enterReading(limit)
        do throws(StorageError) {
            return try begin(UInt32(MDB_RDONLY))
        } catch {
            endRead()
            throw error
        }
    }

    /// Keeps the file open, and blocks writers that could not see the reader.
    private func enterReading(_ limit: WorkLimit?) throws(StorageError) {
        try enter()
        do throws(StorageError) {
            try file.checkPath()
            if !isRegistering { try share(limit) }
        } catch {
            leave()
            throw error
        }
    }

    /// Ends a read; must be called once for each read transaction that has ended.
    func endRead() {
        if !isRegistering { unshare() }
        leave()
    }

    /// Begins the write transaction when no other process has one. The caller must call `endWrite` afterwards.
    ///
    /// Waiting for LMDB's own lock has no timeout. That lock is free when the lock of the file is held, unless a program that does not use
    /// the latter is writing.
    func beginWrite(_ options: WriteOptions) throws(StorageError) -> OpaquePointer {
        try file.lock(options)
        do throws(StorageError) {
            try enter()
            do throws(StorageError) {
                try file.checkPath()
                if countWrite() { clearDeadReaders() }
                return try checked(begin(0))
            } catch {
                leave()
                throw error
            }
        } catch {
            file.unlock()
            throw error
        }
    }

    /// Throws if a transaction would not follow the newest one. LMDB takes its number from the lock file, which may be wrong: a program
    /// that uses another lock file, because it opens the data file by another name, has committed since, or the lock file belonged to
    /// another data file.
    private func checked(_ transaction: OpaquePointer) throws(StorageError) -> OpaquePointer {
        do throws(StorageError) {
            if UInt64(mdb_txn_id(transaction)) == (try LMDBMeta.pair(file).newest.transaction) + 1 { return transaction }
            throw LMDBHandle.otherLock
        } catch {
            mdb_txn_abort(transaction)
            throw error
        }
    }

    /// Ends a write; must be called once for each write transaction that has ended.
    func endWrite() {
        file.unlock()
        leave()
    }

    @inline(never)
    private func enter() throws(StorageError) {
        try state.withLock { state throws(StorageError) in
            if state.isClosed { throw Self.reopening }
            if state.wantsRoom, state.sessions == 0 { try grow(&state) }
            state.sessions += 1
        }
    }

    @inline(never)
    private func leave() { state.withLock { $0.sessions -= 1 } }

    private func begin(_ flags: UInt32) throws(StorageError) -> OpaquePointer {
        var transaction: OpaquePointer?
        var code = mdb_txn_begin(handle, nil, flags, &transaction)
        if code == MDB_MAP_RESIZED, state.withLock({ adopt(&$0) }) { code = mdb_txn_begin(handle, nil, flags, &transaction) }
        if code == MDB_READERS_FULL, clearDeadReaders() > 0 { code = mdb_txn_begin(handle, nil, flags, &transaction) }
        if code == MDB_SUCCESS, let transaction { return transaction }
        if code == MDB_PANIC {
            state.withLock { $0.hasFailed = true }
            throw Self.reopening
        }
        throw error(code)
    }

    /// Releases the slots of readers whose process has ended: otherwise the pages of their snapshots would never be reused, and the slots
    /// would run out.
    @discardableResult
    private func clearDeadReaders() -> Int32 {
        var dead: Int32 = 0
        mdb_reader_check(handle, &dead)
        return dead
    }

    private func countWrite() -> Bool {
        state.withLock { state in
            state.writes += 1
            return state.writes % Self.writesPerReaderCheck == 0
        }
    }

    /// Takes the shared lock for the first reader.
    private func share(_ limit: WorkLimit?) throws(StorageError) {
        // Existing readers do not pass the gate, where a writer may wait for them.
        if try tryShare(orJoin: true) { return }
        try file.wait(WriteOptions(limit: limit)) { () throws(StorageError) in try tryShare() }
    }

    /// - Parameter orJoin: Whether to take the lock only together with other readers that hold it.
    @inline(never)
    private func tryShare(orJoin: Bool = false) throws(StorageError) -> Bool {
        try sharers.withLock { sharers throws(StorageError) in
            if sharers == 0 {
                if orJoin { return false }
                if try !file.tryLock(.shared) { return false }
            }
            sharers += 1
            return true
        }
    }

    @inline(never)
    private func unshare() {
        sharers.withLock { sharers in
            sharers -= 1
            if sharers == 0 { file.unlock() }
        }
    }

    /// Runs a body that reads the newest snapshot and ends its transaction. No session can begin or end meanwhile, so the read does not
    /// count as a session that prevents the map from growing.
    func look(_ body: (OpaquePointer) throws(StorageError) -> CommitCount) throws(StorageError) -> CommitCount? {
        try state.withLock { state throws(StorageError) in
            if state.isClosed { return nil }
            if !isRegistering {
                if try !tryShare() { return nil }
            }
            defer { if !isRegistering { unshare() } }
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
        let copy = PolystoreFoundation.open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard copy >= 0 else {
            throw StorageError(.permissionDenied, "the path of the backup cannot be written; check the folder's permissions")
        }
        defer { PolystoreFoundation.close(copy) }
        try enterReading(nil)
        defer { endRead() }
        // The variant with a path would create a folder for an environment in a folder.
        try LMDBError.check(mdb_env_copyfd2(handle, copy, UInt32(MDB_CP_COMPACT)))
    }

    /// Whether the file has to be opened again: it was closed, or LMDB refuses further work after a failed write of a meta page.
    var isOver: Bool { state.withLock { $0.hasFailed || $0.isClosed } }

    static let reopening = StorageError(
        .inputOutput,
        "a write to the LMDB file failed; end all open sessions, so that the store can open the file again, and try again")

    /// Returns the error of a code. LMDB treats a short write, for example on a full disk, as a failed one (`mdb_page_flush`); the free
    /// space of the disk distinguishes the cases.
    func error(_ code: Int32) -> StorageError {
        var place = statvfs()
        let isFull =
            code == EIO && statvfs(file.location.dataPath, &place) == 0 && UInt64(place.f_bavail) * UInt64(place.f_frsize) < 1 << 20
        return LMDBError.error(isFull ? ENOSPC : code)
    }

    /// Returns the error of a failed commit. If the meta page could not be written, LMDB has restored the older one.
    ///
    /// - Parameter number: The number of the transaction.
    /// - Returns: `commitOutcomeUnknown` if it is not certain that the older page is on the disk.
    func error(_ code: Int32, ofCommit number: UInt64) -> StorageError {
        if code == MDB_MAP_FULL { return full() }
        var probe: OpaquePointer?
        let refusal = mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &probe)
        if refusal == MDB_SUCCESS { mdb_txn_abort(probe) }
        guard refusal == MDB_PANIC else { return error(code) }
        state.withLock { $0.hasFailed = true }
        if let newest = try? LMDBMeta.pair(file).newest.transaction, newest < number, file.synchronize() { return error(code) }
        return StorageError(
            .commitOutcomeUnknown,
            "writing the last page of a commit failed, and its outcome is unknown; open the store again and call outcome(of:) with the "
                + "commit token of this error",
            cause: LMDBError.error(code))
    }

    /// Ends the waits for locks of other processes.
    func abandon() { file.abandon() }

    /// Waits until the current contents of the file are on the disk.
    func synchronize() throws(StorageError) { if !file.synchronize() { throw LMDBError.error(errno) } }

    /// Returns the error for a full map: the transaction is repeated with a larger one, as far as the limit allows.
    func full() -> StorageError {
        let canGrow = state.withLock { state in
            state.wantsRoom = state.mapSize < limit
            return state.wantsRoom
        }
        if !canGrow { return LMDBError.error(MDB_MAP_FULL) }
        return StorageError(
            .serializationFailure, "the map of the LMDB store is full and is enlarged when no session is open; run the transaction again")
    }

    private func grow(_ state: inout State) throws(StorageError) {
        let size = min(state.mapSize * 2, limit)
        let code = mdb_env_set_mapsize(handle, size)
        if code == ENOMEM { throw LMDBError.error(MDB_MAP_FULL) }
        try LMDBError.check(code)
        state.mapSize = size
        state.wantsRoom = false
    }

    /// Adopts the map size that another process has set, if this is the only session.
    private func adopt(_ state: inout State) -> Bool { state.sessions == 1 && mdb_env_set_mapsize(handle, 0) == MDB_SUCCESS }
}
#endif
