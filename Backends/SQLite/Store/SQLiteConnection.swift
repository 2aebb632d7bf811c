#if SQLite
internal import CSQLite
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage

/// One connection to the database file, with its prepared statements. It is used by one thread at a time.
final class SQLiteConnection {
    private static let cacheLimit = 256

    let handle: OpaquePointer
    private var statements: [String: SQLiteStatement] = [:]
    private var order: [String] = []

    /// Opens a file.
    init(path: String, readOnly: Bool, create: Bool) throws(StorageError) {
        var flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | (readOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE)
        if create, !readOnly { flags |= SQLITE_OPEN_CREATE }
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let error = SQLiteError.error(code, opened)
            sqlite3_close_v2(opened)
            throw error
        }
        handle = opened
        SQLiteFunctions.register(opened)
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Waits at most so many seconds for other connections.
    func wait(_ seconds: TimeInterval) { sqlite3_busy_timeout(handle, Int32(min(max(seconds, 0), 2_000_000) * 1000)) }

    /// Runs statements without results.
    func execute(_ sql: String) throws(StorageError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw SQLiteError.error(code, handle) }
    }

    /// The prepared statement of a text, from the cache where it is free.
    func statement(_ sql: String) throws(StorageError) -> SQLiteStatement {
        if let cached = statements[sql], !cached.isInUse { return cached }
        let statement = try SQLiteStatement(sql, self)
        if statements[sql] == nil {
            if order.count >= Self.cacheLimit { statements[order.removeFirst()] = nil }
            order.append(sql)
            statements[sql] = statement
        }
        return statement
    }

    /// The statement of a text with bindings, bound.
    func statement(_ text: SQLText) throws(StorageError) -> SQLiteStatement {
        let (sql, bindings) = text.rendered(.sqlite)
        return try statement(sql, bindings)
    }

    /// The prepared statement of a text, bound.
    func statement(_ sql: String, _ bindings: [SQLBinding]) throws(StorageError) -> SQLiteStatement {
        let statement = try statement(sql)
        try statement.bind(bindings)
        return statement
    }

    /// The one whole number that a statement gives; nil when there is no row or it is null.
    func integer(_ sql: String) throws(StorageError) -> Int64? {
        let statement = try statement(sql)
        defer { statement.reset() }
        guard try statement.step(), sqlite3_column_type(statement.handle, 0) != SQLITE_NULL else { return nil }
        return sqlite3_column_int64(statement.handle, 0)
    }

    /// Copies the database, as it is now, to another file.
    ///
    /// All pages are copied in one step: in WAL mode it holds one snapshot and keeps no writer waiting.
    func copy(to path: String) throws(StorageError) {
        let target = try SQLiteConnection(path: path, readOnly: false, create: true)
        guard let backup = sqlite3_backup_init(target.handle, "main", handle, "main") else {
            throw SQLiteError.error(sqlite3_errcode(target.handle), target.handle)
        }
        let code = sqlite3_backup_step(backup, -1)
        let finished = sqlite3_backup_finish(backup)
        if code != SQLITE_DONE { throw SQLiteError.error(code, target.handle) }
        if finished != SQLITE_OK { throw SQLiteError.error(finished, target.handle) }
        // The copy is one file: a log beside it would be lost when it is moved.
        try target.execute("PRAGMA journal_mode = DELETE")
    }

    /// The number of rows that the last statement changed.
    var changes: Int { Int(sqlite3_changes(handle)) }
}
#endif
