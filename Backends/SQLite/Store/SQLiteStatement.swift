#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A prepared statement.
final class SQLiteStatement {
    let handle: OpaquePointer
    let sql: String
    /// Whether the engine sorts all its rows; nil before it is determined.
    @exclusivity(unchecked) var isSorting: Bool?
    /// Whether the engine finds its rows by an index; nil before it is determined.
    @exclusivity(unchecked) var usesIndex: Bool?
    unowned let connection: SQLiteConnection
    /// Whether rows are being read from the statement.
    @exclusivity(unchecked) private(set) var isInUse = false
    /// The result code of the last failed binding, because a value that is not bound would be written as NULL.
    @exclusivity(unchecked) private var bindCode = SQLITE_OK
    /// The distance between the values of a row in memory; -1 where it is not constant, 0 before it is known.
    @exclusivity(unchecked) private var knownStride = 0
    /// The owner of the bound bytes until the next binding.
    private let arena = RowBatch(capacity: 1)

    init(_ sql: String, _ connection: SQLiteConnection) throws(StorageError) {
        var prepared: OpaquePointer?
        let code = sqlite3_prepare_v3(connection.handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &prepared, nil)
        guard code == SQLITE_OK, let prepared else { throw connection.error(code) }
        handle = prepared
        self.sql = sql
        self.connection = connection
    }

    /// Creates the object for a statement that was prepared elsewhere.
    init(_ prepared: OpaquePointer, of sql: String, _ connection: SQLiteConnection) {
        handle = prepared
        self.sql = sql
        self.connection = connection
    }

    deinit { sqlite3_finalize(handle) }

    /// Moves to the next row. Returns false at the end.
    @inline(__always)
    func step() throws(StorageError) -> Bool {
        let code = advance()
        if code == SQLITE_ROW { return true }
        if code == SQLITE_DONE { return false }
        throw failure(code)
    }

    @inline(never)
    private func failure(_ code: Int32) -> StorageError {
        let error = connection.error(code)
        reset()
        return error
    }

    /// Moves to the next row and returns the raw result code.
    @inline(__always)
    func advance() -> Int32 {
        if bindCode != SQLITE_OK { return refusal() }
        return sqlite3_step(handle)
    }

    @inline(never)
    private func refusal() -> Int32 {
        defer { bindCode = SQLITE_OK }
        return bindCode
    }

    /// Marks the statement as being read until it is reset.
    func beginReading() {
        if !isInUse { connection.readingCount += 1 }
        isInUse = true
    }

    /// Runs a statement without rows, resets it for the next run, and returns the raw result code.
    @inline(__always)
    func run() -> Int32 {
        let code = advance()
        sqlite3_reset(handle)
        return code
    }

    /// The distance between adjacent values of the current row in memory; -1 where it is not constant.
    ///
    /// With it, `sqlite3_column_value` is called once for each row instead of once for each column, which saves a fifth of the time of
    /// reading. The distance is not documented. It is verified against the public API on the first row of each statement.
    @inline(__always)
    var valueStride: Int { knownStride != 0 ? knownStride : proveStride() }

    @inline(never)
    private func proveStride() -> Int {
        knownStride = -1
        let count = Int(sqlite3_column_count(handle))
        guard count > 1, let first = sqlite3_column_value(handle, 0), let second = sqlite3_column_value(handle, 1) else { return -1 }
        let base = UnsafeRawPointer(first), step = UnsafeRawPointer(second) - base
        for column in 0..<count {
            guard let value = sqlite3_column_value(handle, Int32(column)), UnsafeRawPointer(value) - base == column * step else {
                return -1
            }
        }
        knownStride = step
        return step
    }

    /// Returns a counter of the engine for this statement, and resets it to zero if `reset` is true.
    func counter(_ counter: Int32, reset: Bool) -> Int { Int(sqlite3_stmt_status(handle, counter, reset ? 1 : 0)) }

    /// Ends reading.
    func reset() {
        sqlite3_reset(handle)
        if isInUse { connection.readingCount -= 1 }
        isInUse = false
    }

    /// Binds a cell without copying its bytes, which must outlive the run. A cell that the engine refuses makes the run fail.
    @inline(__always)
    func bind(_ cell: Cell, at position: Int32) {
        let code = bindCode(cell, position)
        if code != SQLITE_OK { bindCode = code }
    }

    @inline(__always)
    private func bindCode(_ cell: Cell, _ position: Int32) -> Int32 {
        switch cell.kind {
        case .null: return sqlite3_bind_null(handle, position)
        case .int: return sqlite3_bind_int64(handle, position, cell.int)
        case .real: return sqlite3_bind_double(handle, position, cell.real)
        case .text:
            let bytes = UnsafePointer<CChar>(bitPattern: UInt(cell.bits))
            return sqlite3_bind_text64(handle, position, bytes, UInt64(cell.length), nil, UInt8(SQLITE_UTF8))
        case .blob:
            // A null pointer would bind NULL, but empty data is not nil.
            if cell.length == 0 { return sqlite3_bind_zeroblob(handle, position, 0) }
            return sqlite3_bind_blob64(handle, position, UnsafeRawPointer(bitPattern: UInt(cell.bits)), UInt64(cell.length), nil)
        }
    }

    /// Binds values in the order of the placeholders.
    func bind(_ bindings: [SQLBinding]) throws(StorageError) {
        arena.clear()
        for (index, binding) in bindings.enumerated() {
            let position = Int32(index + 1)
            switch binding {
            case .value(let value, _): bind(arena.cell(for: value), at: position)
            case .list(let values, _): bind(arena.cell(for: .string(Self.json(values))), at: position)
            }
        }
    }

    /// Returns a list as JSON, for `json_each`.
    private static func json(_ values: [Value]) -> String {
        JSONWriter.write(.array(values.map { JSONNode(ValueText.json($0)) }))
    }

    /// Returns the values of the current row.
    func values(_ types: [ValueType]) throws(StorageError) -> [Value] {
        var result: [Value] = []
        for (index, type) in types.enumerated() {
            guard let value = Value(SQLiteCells.cell(handle, Int32(index), type.cellKind), as: type) else {
                throw StorageError(
                    .corrupted, "a value in the database is not valid UTF-8 or not valid for its type; restore the database from a backup")
            }
            result.append(value)
        }
        return result
    }
}
#endif
