#if PostgreSQL
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage

/// The binary wire format of values.
enum PostgreSQLCodec {
    /// 2000-01-01, the server's epoch, in microseconds since 1970.
    static let epoch: Int64 = 946_684_800_000_000

    /// Returns the OID of a type.
    static func oid(_ type: ValueType) -> UInt32 {
        switch type {
        case .bool: 16
        case .int16: 21
        case .int32: 23
        case .int64: 20
        case .float: 700
        case .double: 701
        case .decimal: 1700
        case .string, .url: 25
        case .date: 1184
        case .uuid: 2950
        case .data: 17
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
            let number = PostgreSQLNumeric.words(DecimalKey.decode(cell.bytes) ?? 0)
            buffer.append(Int32(2 * number.count))
            for word in number { buffer.append(word) }
        }
    }
}

/// The wire format of the server's numeric type: digits of base 10,000, the weight of the first digit, a sign (numeric.c, numeric_send).
enum PostgreSQLNumeric {
    /// Returns the number of a field; `nan` for a value that is not a number or has no form in Polystore, nil for bytes that no server
    /// sends.
    static func decode(_ bytes: UnsafeRawBufferPointer) -> Decimal? {
        guard bytes.count >= 8 else { return nil }
        func word(_ index: Int) -> Int { Int(UInt16(bigEndian: bytes.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))) }
        let count = word(0), weight = Int(Int16(truncatingIfNeeded: word(1))), isNegative = word(2) == 0x4000
        guard bytes.count == 8 + 2 * count else { return nil }
        if word(2) & 0x8000 != 0 { return .nan }
        if count == 0 { return 0 }
        var text = ""
        for index in 0..<count {
            let digits = String(word(4 + index))
            if digits.count > 4 { return nil }
            text += String(repeating: "0", count: 4 - digits.count) + digits
        }
        // Trailing zeros would use digits of precision that Decimal needs for the digits before them.
        var exponent = 4 * (weight - count + 1)
        while text.count > 1, text.hasSuffix("0") {
            text.removeLast()
            exponent += 1
        }
        guard let mantissa = UInt128(text) else { return .nan }
        return DecimalDigits.decimal(mantissa, exponent, isNegative: isNegative) ?? .nan
    }

    /// Returns the number of digits, weight, sign, scale and digits of a number.
    static func words(_ number: Decimal) -> [UInt16] {
        let text = number.description.drop { $0 == "-" }
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        var whole = String(parts[0]), fraction = parts.count > 1 ? String(parts[1]) : ""
        let scale = fraction.count
        while whole.count % 4 != 0 { whole = "0" + whole }
        while fraction.count % 4 != 0 { fraction += "0" }
        var groups: [UInt16] = [], weight = whole.count / 4 - 1
        let digits = Array((whole + fraction).utf8)
        for start in stride(from: 0, to: digits.count, by: 4) {
            groups.append(digits[start..<(start + 4)].reduce(0) { $0 * 10 + UInt16($1 - 0x30) })
        }
        while groups.first == 0 {
            groups.removeFirst()
            weight -= 1
        }
        while groups.last == 0 { groups.removeLast() }
        let head = [groups.count, groups.isEmpty ? 0 : weight, number < 0 ? 0x4000 : 0, scale]
        return head.map { UInt16(truncatingIfNeeded: $0) } + groups
    }
}
#endif
