#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// The server's types, and the binary wire format of their values: everything about an attribute type that PostgreSQL alone decides.
enum PostgreSQLCodec {
    /// A type of the server.
    struct Column {
        /// The ways to find the least and the greatest value.
        enum Extremes {
            /// `min` and `max`.
            case functions
            /// `bool_and` and `bool_or`.
            case booleans
            /// The first value of an order, for types that have no `min` before version 18.
            case percentiles
        }

        /// The name in a cast, and as the element of an array.
        let name: String
        /// The number in `pg_type`.
        let oid: UInt32
        var extremes = Extremes.functions
    }

    /// 2000-01-01, the server's epoch, in microseconds since 1970.
    static let epoch: Int64 = 946_684_800_000_000

    /// Returns the server's type for an attribute type. A number that `PostgreSQLResult.cell` does not know is read as text.
    static func column(_ type: ValueType) -> Column {
        switch type {
        case .bool: Column(name: "bool", oid: 16, extremes: .booleans)
        case .int16: Column(name: "int2", oid: 21)
        case .int32: Column(name: "int4", oid: 23)
        case .int64: Column(name: "int8", oid: 20)
        case .float: Column(name: "float4", oid: 700)
        case .double: Column(name: "float8", oid: 701)
        case .decimal: Column(name: "numeric", oid: 1700)
        case .string, .url: Column(name: "text", oid: 25)
        case .date: Column(name: "timestamptz", oid: 1184)
        case .uuid: Column(name: "uuid", oid: 2950, extremes: .percentiles)
        case .data: Column(name: "bytea", oid: 17, extremes: .percentiles)
        }
    }

    /// Returns a constant in SQL; nil for one that the server would not read exactly.
    static func constant(_ value: Value, _ type: ValueType) -> String? {
        switch value {
        case .null: return "NULL"
        case .bool(let value): return value ? "true" : "false"
        case .int(let number): return "'\(number)'::\(column(type).name)"
        // The form with E is read in the same way whatever the server's setting for backslashes is.
        case .string(let text): return "E'\(SQLText.doubling("'", in: SQLText.doubling("\\", in: text)))'::text"
        // The shortest digits that read back as the same number. The server reads them exactly.
        case .double(let number): return number.isFinite ? "'\(number)'::float8::\(column(type).name)" : nil
        case .uuid(let id): return "'\(id.uuidString)'::uuid"
        case .date(let microseconds):
            return "(timestamptz '1970-01-01 00:00:00+00' + interval '1 microsecond' * '\(microseconds)'::int8)"
        case .data(let data): return "'\\x\(data.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined())'::bytea"
        case .decimal(let number): return "'\(number)'::numeric"
        }
    }

    /// Appends a field: its length and bytes, or -1 for nil.
    @inline(__always)
    static func appendField(_ cell: Cell, _ type: ValueType, to buffer: WireBuffer) {
        if cell.kind == .null { return buffer.append(Int32(-1)) }
        switch type {
        case .bool:
            buffer.append(Int32(1))
            buffer.append(UInt8(cell.int == 0 ? 0 : 1))
        case .int16:
            buffer.append(Int32(2))
            buffer.append(Int16(truncatingIfNeeded: cell.int))
        case .int32:
            buffer.append(Int32(4))
            buffer.append(Int32(truncatingIfNeeded: cell.int))
        case .int64:
            buffer.append(Int32(8))
            buffer.append(cell.int)
        case .date:
            buffer.append(Int32(8))
            buffer.append(cell.int &- epoch)
        case .float:
            buffer.append(Int32(4))
            buffer.append(Float(cell.real).bitPattern)
        case .double:
            buffer.append(Int32(8))
            buffer.append(cell.bits)
        case .string, .url, .data, .uuid:
            // The size of statements and rows has been checked to be smaller (PostgreSQLRows.mostBytes).
            buffer.append(Int32(truncatingIfNeeded: cell.length))
            buffer.append(cell.bytes)
        case .decimal:
            let number = PostgreSQLNumeric.words(DecimalKey.parts(cell.bytes) ?? DecimalDigits.parts(0))
            buffer.append(Int32(2 * number.count))
            for word in number { buffer.append(word) }
        }
    }
}
#endif
