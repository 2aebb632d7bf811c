#if SQLite
internal import CSQLite
internal import PolystoreStorage

/// A converter from the columns of a row to cells.
enum SQLiteCells {
    /// Returns the cell of one column, by the public API.
    static func cell(_ statement: OpaquePointer, _ column: Int32, _ kind: CellKind) -> Cell {
        guard let value = sqlite3_column_value(statement, column) else { return .null }
        return cell(value, kind)
    }

    /// Returns the cell of a value. Its type is requested only when the value is 0 or empty, as NULL appears: requesting it for every
    /// column costs a quarter of the time of reading a row.
    @inline(__always)
    static func cell(_ value: OpaquePointer, _ kind: CellKind) -> Cell {
        switch kind {
        case .null: return .null
        case .int:
            let number = sqlite3_value_int64(value)
            return number == 0 && sqlite3_value_type(value) == SQLITE_NULL ? .null : .int(number)
        case .real:
            let number = sqlite3_value_double(value)
            return number == 0 && sqlite3_value_type(value) == SQLITE_NULL ? .null : .real(number)
        case .text:
            guard let bytes = sqlite3_value_text(value) else { return .null }
            return .text(bytes, Int(sqlite3_value_bytes(value)))
        case .blob:
            let count = Int(sqlite3_value_bytes(value))
            if let bytes = sqlite3_value_blob(value), count > 0 { return .blob(bytes, count) }
            return sqlite3_value_type(value) == SQLITE_NULL ? .null : Cell(bits: 0, length: 0, kind: .blob)
        }
    }
}
#endif
