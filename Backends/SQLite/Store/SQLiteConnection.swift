#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A connection to the database file, with its prepared statements. It is used by one thread at a time.
final class SQLiteConnection: SQLConnection {
    private static let cacheLimit = 256
    /// The page size of new files.
    static let pageSize: Int32 = 8192

    let handle: OpaquePointer
    /// The object that ends its statements and its waits for locks.
    let waiting = SQLiteWaiting()
    /// The transaction that a session has begun.
    var transaction: SQLiteTransaction?
    /// The size of the page cache.
    var cacheKilobytes = 2000
    /// Whether a failure below the engine suggests replacing the connection by a new one.
    var isSuspect = false
    /// Whether COMMIT waits for the disk, where the store is durable. Otherwise the session waits after it (`SQLiteLogFlush`).
    private var waitsForDisk = true
    /// Whether the table functions of JSON are known.
    var hasTableFunctions = false
    /// The log, which is open from the first transaction that waits for the disk after its COMMIT.
    private(set) var log: SQLiteLogFile?
    private var statements: [ExactText: SQLiteStatement] = [:]
    private var order: [ExactText] = []
    /// Additional statements for a text whose cached statement was in use.
    private var doubles: [SQLiteStatement] = []
    /// The number of statements in use.
    var readingCount = 0

    /// Opens a file.
    init(path: String, readOnly: Bool, create: Bool, checksums: SQLiteChecksums = .ignored) throws(StorageError) {
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE)
        if create, !readOnly {
            flags |= SQLITE_OPEN_CREATE
            Self.make(path)
        }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags, checksums == .ignored ? nil : SQLiteChecksumVFS.name)
        guard code == SQLITE_OK, let opened else {
            let error = SQLiteError.error(code, opened)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        // The engine falls back to reading where it cannot open the file for writing, whatever the reason.
        if !readOnly, sqlite3_db_readonly(opened, "main") == 1, access(path, W_OK) == 0 {
            throw StorageError(.inputOutput, "the database file could not be opened for writing; check the disk and try again")
        }
        waiting.attach(to: opened)
        SQLiteFunctions.register(opened)
    }

    /// Creates an empty file that only its owner may read, unless one exists. The engine gives the same permissions to the files beside it.
    ///
    /// The engine reports failures. The file gets its name only after its descriptor is closed: closing a descriptor of a file that another
    /// connection of this process has opened in the meantime would drop that connection's locks. Where hard links are not available, the
    /// engine creates the file.
    private static func make(_ path: String) {
        if access(path, F_OK) == 0 { return }
        let new = "\(path).new-\(UUID().uuidString)", file = PolystoreFoundation.open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if file < 0 { return }
        PolystoreFoundation.close(file)
        link(new, path)
        unlink(new)
    }

    deinit {
        statements.removeAll()
        doubles.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Sets the maximum time to wait for other connections, in seconds.
    func wait(_ seconds: TimeInterval) { waiting.patience = min(max(seconds, 0), 2_000_000) }

    /// Runs statements without results.
    func execute(_ sql: String) throws(StorageError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw error(code) }
    }

    /// Returns the prepared statement of a text, from the cache if it is not in use.
    func statement(_ sql: String) throws(StorageError) -> SQLiteStatement {
        let text = ExactText(sql), cached = statements[text]
        if let cached, !cached.isInUse { return cached }
        if cached != nil, let double = doubles.first(where: { !$0.isInUse && ExactText($0.sql) == text }) { return double }
        let statement = try SQLiteStatement(sql, self)
        if cached == nil { keep(statement) } else { doubles.append(statement) }
        return statement
    }

    /// Adds a statement to the cache in place of the oldest one that only the cache references. A statement that a cursor of another thread
    /// still references would be finalized by that thread.
    private func keep(_ statement: SQLiteStatement) {
        if order.count >= Self.cacheLimit,
            let oldest = order.firstIndex(where: { isKnownUniquelyReferenced(&statements[$0]) })
        {
            statements[order.remove(at: oldest)] = nil
        }
        let sql = ExactText(statement.sql)
        order.append(sql)
        statements[sql] = statement
    }

    /// Ends all reading: a statement that was not read to its end keeps the snapshot of its transaction.
    func resetAll() {
        if readingCount > 0 {
            for statement in statements.values { statement.reset() }
            for statement in doubles { statement.reset() }
        }
        if !doubles.isEmpty { doubles = doubles.indices.filter { !isKnownUniquelyReferenced(&doubles[$0]) }.map { doubles[$0] } }
    }

    /// Returns the statement of a text, with its bindings bound.
    func statement(_ text: SQLText) throws(StorageError) -> SQLiteStatement {
        let (sql, bindings) = text.rendered(.sqlite)
        return try statement(sql, bindings)
    }

    /// Returns the prepared statement of a text, with bindings bound.
    func statement(_ sql: String, _ bindings: [SQLBinding]) throws(StorageError) -> SQLiteStatement {
        let statement = try statement(sql)
        try statement.bind(bindings)
        return statement
    }

    func rows(_ text: SQLText, _ types: [ValueType]) throws(StorageError) -> [[Value]] {
        let statement = try statement(text)
        defer { statement.reset() }
        var result: [[Value]] = []
        while try statement.step() { result.append(try statement.values(types)) }
        return result
    }

    /// Returns the single integer of a statement's result, or nil when there is no row or it is null.
    func integer(_ sql: String) throws(StorageError) -> Int64? {
        let statement = try statement(sql)
        defer { statement.reset() }
        guard try statement.step(), sqlite3_column_type(statement.handle, 0) != SQLITE_NULL else { return nil }
        return sqlite3_column_int64(statement.handle, 0)
    }

    /// Sets whether COMMIT of the following transactions waits for the disk.
    ///
    /// *Requires*: the connection belongs to a store with `Durability.full` and has no transaction.
    func waitForDisk(atCommit waits: Bool) throws(StorageError) {
        if waits == waitsForDisk { return }
        try execute("PRAGMA synchronous = \(waits ? "FULL" : "NORMAL")")
        waitsForDisk = waits
    }

    /// Opens the log, if COMMIT does not wait for the disk: later it would be too late for an error.
    ///
    /// *Requires*: a transaction, in which the log exists.
    func openLog() throws(StorageError) {
        if waitsForDisk || log != nil { return }
        guard let path = sqlite3_db_filename(handle, "main") else { return }
        log = try SQLiteLogFile(ofFileAt: String(cString: path))
        if log == nil { throw SQLiteFileIdentity.moved }
    }

    /// Makes the cache small, because the engine sorts faster with a small cache.
    func shrinkCache() throws(StorageError) { try execute("PRAGMA cache_size = -2000") }

    /// Restores the size of the cache.
    func restoreCache() throws(StorageError) { try execute("PRAGMA cache_size = -\(cacheKilobytes)") }

    /// Returns the first bytes of the file, whatever they are.
    func head(_ count: Int) throws(StorageError) -> [UInt8] {
        var file: UnsafeMutablePointer<sqlite3_file>?
        guard sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
            let read = file.pointee.pMethods?.pointee.xRead
        else { return [] }
        var bytes = [UInt8](repeating: 0, count: count)
        let code = read(file, &bytes, Int32(count), 0)
        // SQLITE_IOERR_SHORT_READ: the bytes after the end of the file are filled with zeros.
        if code != SQLITE_OK, code != 522 { throw error(code) }
        return bytes
    }

    /// Returns whether the file has a write-ahead log.
    func isLogging() throws(StorageError) -> Bool { try mode("PRAGMA journal_mode") == "wal" }

    /// Switches the file to a write-ahead log, unless it has one.
    ///
    /// - Throws: `unsupported` where the file system cannot share memory between processes.
    func switchToLog() throws(StorageError) {
        if try mode("PRAGMA journal_mode = WAL") == "wal" { return }
        throw StorageError(
            .unsupported,
            "the file system does not support a shared write-ahead log, as network file systems do not; keep the database on a local disk")
    }

    private func mode(_ sql: String) throws(StorageError) -> String {
        let statement = try SQLiteStatement(sql, self)
        guard try statement.step(), let text = sqlite3_column_text(statement.handle, 0) else { return "" }
        let mode = String(cString: text)
        // The engine returns the mode before it has stored it in the file.
        _ = try statement.step()
        return mode
    }

    /// Copies the current database to another file.
    ///
    /// All pages are copied in one step: in WAL mode the step reads one snapshot and does not block writers.
    func copy(to path: String) throws(StorageError) {
        let hasChecksums = try hasChecksums()
        let target = try SQLiteConnection(path: path, readOnly: false, create: true, checksums: hasChecksums ? .kept : .ignored)
        if hasChecksums { try target.announceChecksums(pageSize: Int32(try integer("PRAGMA page_size") ?? 0)) }
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw target.error(sqlite3_errcode(target.handle))
        }
        let code = sqlite3_backup_step(backup, -1)
        let finished = sqlite3_backup_finish(backup)
        if code != SQLITE_DONE { throw target.error(code) }
        if finished != SQLITE_OK { throw target.error(finished) }
        // The copy is a single file, because a log beside it would be lost when the file is moved.
        try target.execute("PRAGMA journal_mode = DELETE")
    }

    /// The number of rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }
}
#endif
