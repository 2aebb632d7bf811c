#if PostgreSQL
internal import CLibPQ
internal import Foundation
internal import PolystoreStorage

/// The binary result of a statement.
final class PostgreSQLResult {
    let handle: OpaquePointer?
    /// The types of the columns, by the server's numbers.
    let oids: [UInt32]

    init(_ handle: OpaquePointer?) {
        self.handle = handle
        oids = (0..<PQnfields(handle)).map { PQftype(handle, $0) }
    }

    deinit { PQclear(handle) }

    /// The number of rows.
    var count: Int { Int(PQntuples(handle)) }

    /// What was run, such as `COMMIT`.
    var command: String { String(cString: PQcmdStatus(handle)) }

    /// The number of rows that the statement changed.
    var changes: Int { Int(String(cString: PQcmdTuples(handle))) ?? 0 }

    /// The cell of a field; text and bytes point into the result, decimals are copied into the batch.
    @inline(__always)
    func cell(_ row: Int, _ column: Int, _ batch: RowBatch) -> Cell {
        let r = Int32(truncatingIfNeeded: row), c = Int32(truncatingIfNeeded: column)
        if PQgetisnull(handle, r, c) == 1 { return .null }
        guard let value = PQgetvalue(handle, r, c) else { return .null }
        let bytes = UnsafeRawPointer(value)
        switch oids[column] {
        case 16: return .int(bytes.load(as: UInt8.self) == 0 ? 0 : 1)
        case 20: return .int(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)))
        case 21: return .int(Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self))))
        case 23: return .int(Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self))))
        case 700: return .real(Double(Float(bitPattern: UInt32(bigEndian: bytes.loadUnaligned(as: UInt32.self)))))
        case 701: return .real(Double(bitPattern: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))))
        case 1184: return .int(Int64(bigEndian: bytes.loadUnaligned(as: Int64.self)) &+ PostgreSQLCodec.epoch)
        case 1700:
            let number = PostgreSQLNumeric.decode(UnsafeRawBufferPointer(start: bytes, count: Int(PQgetlength(handle, r, c))))
            return batch.cell(for: .decimal(number))
        case 17, 2950: return .blob(bytes, Int(PQgetlength(handle, r, c)))
        default: return .text(bytes, Int(PQgetlength(handle, r, c)))
        }
    }

    /// The value of a field for a type; a numeric total that fits an integer is one.
    func value(_ row: Int, _ column: Int, as type: ValueType, _ scratch: RowBatch) throws(StorageError) -> Value {
        scratch.clear()
        let cell = cell(row, column, scratch)
        if type.isInteger, oids[column] == 1700 {
            guard case .decimal(let number) = Value(cell, as: .decimal) else { return .null }
            return Int64(number.description).map(Value.int) ?? .decimal(number)
        }
        guard let value = Value(cell, as: type) else { throw StorageError(.corrupted, "a value on the server has ill-formed bytes") }
        return value
    }

    /// The whole number of a field; nil if it is null or there is no row.
    func integer(_ row: Int, _ column: Int) -> Int64? {
        guard row < count else { return nil }
        let cell = cell(row, column, RowBatch(capacity: 1))
        return cell.isNull ? nil : cell.int
    }
}
#endif
