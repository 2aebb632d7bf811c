#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreStorage

/// The result of an SQL function of Polystore's own.
enum SQLiteResult {
    static func give(_ context: OpaquePointer?, _ value: Value) {
        value.withCell { cell in
            switch cell.kind {
            case .null: sqlite3_result_null(context)
            case .int: sqlite3_result_int64(context, cell.int)
            case .real: sqlite3_result_double(context, cell.real)
            case .text: give(context, text: cell.bytes)
            case .blob: give(context, data: cell.bytes)
            }
        }
    }

    static func give(_ context: OpaquePointer?, text: UnsafeRawBufferPointer) {
        // An empty text has no base address, and a null pointer would return NULL.
        guard let start = text.baseAddress else { return sqlite3_result_text(context, "", 0, nil) }
        sqlite3_result_text64(
            context, start.assumingMemoryBound(to: CChar.self), sqlite3_uint64(text.count), transient, UInt8(SQLITE_UTF8))
    }

    private static func give(_ context: OpaquePointer?, data: UnsafeRawBufferPointer) {
        if data.isEmpty { return sqlite3_result_zeroblob(context, 0) }
        sqlite3_result_blob64(context, data.baseAddress, sqlite3_uint64(data.count), transient)
    }

    /// -1 is SQLITE_TRANSIENT: SQLite copies the bytes immediately.
    private static var transient: sqlite3_destructor_type { unsafeBitCast(-1, to: sqlite3_destructor_type.self) }

    /// Ends the statement with an error of the contract, from which `failure` creates it again.
    static func fail(_ context: OpaquePointer?, _ error: QueryError) {
        sqlite3_result_error(context, error.message, -1)
        // The code is set after the message, because setting the message sets the code for an SQL error.
        sqlite3_result_error_code(context, SQLITE_MISMATCH | (reasons.firstIndex(of: error.reason).map { Int32($0) + 1 } ?? 0) << 8)
    }

    /// Returns the error that ended a statement, or nil for a code of SQLite's own or of `SQLiteForm`.
    static func failure(_ code: Int32, _ message: String) -> QueryError? {
        guard code & 0xff == SQLITE_MISMATCH, reasons.indices.contains(Int(code >> 8) - 1) else { return nil }
        return QueryError(reasons[Int(code >> 8) - 1], message)
    }

    /// The reasons of the errors of computations, in the order of their extended result codes. SQLite has none for SQLITE_MISMATCH.
    private static let reasons: [QueryError.Reason] = [.arithmeticOverflow, .divisionByZero, .illFormed]
}
#endif
