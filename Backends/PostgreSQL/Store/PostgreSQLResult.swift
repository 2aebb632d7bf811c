#if PostgreSQL
internal import CLibPQ
internal import PolystoreFoundation
internal import PolystoreStorage

/// The binary result of a statement.
final class PostgreSQLResult {
    let handle: OpaquePointer?
    /// The types of the columns, as OIDs.
    let oids: [UInt32]

    /// - Parameter oids: The types of the columns, if they are known from another result of the statement.
    init(_ handle: OpaquePointer?, oids: [UInt32]? = nil) {
        self.handle = handle
        self.oids = oids ?? (0..<PQnfields(handle)).map { PQftype(handle, $0) }
    }

    deinit { PQclear(handle) }

    /// The number of rows.
    var count: Int { Int(PQntuples(handle)) }

    /// The size of the result in memory, in bytes.
    var bytes: Int { PQresultMemorySize(handle) }

    /// The executed command, such as `COMMIT`.
    var command: String { String(cString: PQcmdStatus(handle)) }

    /// The number of rows that the statement changed.
    var changes: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// Returns the cell of a field. Text and bytes point into the result; decimals are copied into the batch. A date or a numeric that no
    /// attribute can have becomes an ill-formed cell, so that decoding it throws an error that names the object.
    ///
    /// - Throws: `corrupted` for a field that does not have the form of its type.
    @inline(__always)
    func cell(_ row: Int, _ column: Int, _ batch: RowBatch) throws(StorageError) -> Cell {
        guard let bytes = bytes(row, column) else { return .null }
        switch oids[column] {
        case 16: return .int(try load(UInt8.self, bytes) == 0 ? 0 : 1)
        case 20: return .int(Int64(bigEndian: try load(Int64.self, bytes)))
        case 21: return .int(Int64(Int16(bigEndian: try load(Int16.self, bytes))))
        case 23: return .int(Int64(Int32(bigEndian: try load(Int32.self, bytes))))
        case 700: return .real(Double(Float(bitPattern: UInt32(bigEndian: try load(UInt32.self, bytes)))))
        case 701: return .real(Double(bitPattern: UInt64(bigEndian: try load(UInt64.self, bytes))))
        case 1184:
            // Infinities are the limits of the range (timestamp.h, DT_NOEND).
            let (date, overflows) = Int64(bigEndian: try load(Int64.self, bytes)).addingReportingOverflow(PostgreSQLCodec.epoch)
            return .int(overflows ? .max : date)
        case 1700: return try numeric(bytes, batch)
        case 17: return .blob(bytes.start, bytes.count)
        case 2950:
            guard bytes.count == 16 else { throw Self.illFormed }
            return .blob(bytes.start, 16)
        default: return .text(bytes.start, bytes.count)
        }
    }

    /// Returns a number of fixed width, in the order of the network.
    @inline(__always)
    private func load<T: BitwiseCopyable>(_ type: T.Type, _ bytes: UnsafeRawBufferPointer) throws(StorageError) -> T {
        guard bytes.count == MemoryLayout<T>.size else { throw Self.illFormed }
        return bytes.start.loadUnaligned(as: T.self)
    }

    @inline(never)
    private func numeric(_ bytes: UnsafeRawBufferPointer, _ batch: RowBatch) throws(StorageError) -> Cell {
        guard let number = PostgreSQLNumeric.decode(bytes) else { throw Self.illFormed }
        return number.isNaN ? Cell(bits: 0, length: 0, kind: .blob) : batch.cell(for: .decimal(number))
    }

    /// Returns the bytes of a field, which point into the result, or nil for NULL.
    @inline(__always)
    func bytes(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer? {
        let r = Int32(truncatingIfNeeded: row), c = Int32(truncatingIfNeeded: column)
        // NULL has no length, so that other fields are read with two calls.
        let length = PQgetlength(handle, r, c)
        if length == 0, PQgetisnull(handle, r, c) != 0 { return nil }
        guard let start = PQgetvalue(handle, r, c) else { return nil }
        return UnsafeRawBufferPointer(start: start, count: Int(length))
    }

    private static var illFormed: StorageError {
        StorageError(.corrupted, "a value on the server is not valid UTF-8 or not valid for its type; restore the database from a backup")
    }

    /// Returns the value of a field as a type, or nil if it is not a value of the type. A numeric total that fits an integer is an integer.
    func value(_ row: Int, _ column: Int, as type: ValueType, _ scratch: RowBatch) throws(StorageError) -> Value? {
        scratch.clear()
        let cell = try cell(row, column, scratch)
        guard type.isInteger, oids[column] == 1700 else { return Value(cell, as: type) }
        let total = Value(cell, as: .decimal)
        if case .decimal(let number)? = total, let whole = Int64(number.description) { return .int(whole) }
        return total
    }

    /// Returns the values of all rows, each column as a type.
    func rows(_ types: [ValueType]) throws(StorageError) -> [[Value]] {
        let scratch = RowBatch(capacity: 1)
        var rows: [[Value]] = []
        for row in 0..<count {
            var values: [Value] = []
            for (column, type) in types.enumerated() {
                guard let value = try value(row, column, as: type, scratch) else { throw Self.illFormed }
                values.append(value)
            }
            rows.append(values)
        }
        return rows
    }

    /// Returns the integer of a field, or nil if it is null or not an integer, or there is no row.
    func integer(_ row: Int, _ column: Int) -> Int64? {
        guard row < count, let cell = try? cell(row, column, RowBatch(capacity: 1)), cell.kind == .int else { return nil }
        return cell.int
    }

    /// Returns a copy of the bytes of a field, or nil if it is null or there is no row.
    func data(_ row: Int, _ column: Int) -> Data? { row < count ? bytes(row, column).map { Data($0) } : nil }
}

extension UnsafeRawBufferPointer {
    /// The address of the bytes, which is not nil even if there are none.
    fileprivate var start: UnsafeRawPointer { baseAddress ?? UnsafeRawPointer(bitPattern: 16).unsafelyUnwrapped }
}
#endif
