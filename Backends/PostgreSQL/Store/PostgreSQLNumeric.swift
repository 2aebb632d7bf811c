#if PostgreSQL
internal import Foundation
internal import PolystoreStorage

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
