#if PostgreSQL
internal import PolystoreFoundation
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
        guard (0..<count).allSatisfy({ word(4 + $0) < 10_000 }) else { return nil }
        // Trailing zeros would use digits of precision that Decimal needs for the digits before them.
        var used = count
        while used > 0, word(3 + used) == 0 { used -= 1 }
        if used == 0 { return 0 }
        var last = word(3 + used), factor: UInt128 = 10_000, exponent = 4 * (weight - used + 1)
        while last % 10 == 0 {
            last /= 10
            factor /= 10
            exponent += 1
        }
        var mantissa: UInt128 = 0
        for index in 1...used {
            let isLast = index == used
            let (shifted, overflows) = mantissa.multipliedReportingOverflow(by: isLast ? factor : 10_000)
            let (sum, carries) = shifted.addingReportingOverflow(UInt128(isLast ? last : word(3 + index)))
            if overflows || carries { return .nan }
            mantissa = sum
        }
        return DecimalDigits.decimal(mantissa, exponent, isNegative: isNegative) ?? .nan
    }

    /// Returns the number of digits, weight, sign, scale and digits of a number.
    static func words(_ number: DecimalDigits.Parts) -> [UInt16] {
        var rest = number.mantissa, exponent = rest == 0 ? 0 : number.exponent
        // The scale that the server shows is the number of decimal places, without trailing zeros.
        while exponent < 0, rest % 10 == 0 { (rest, exponent) = (rest / 10, exponent + 1) }
        // Digits of base 10,000 are counted from the decimal point. The last one ends with zeros if the exponent is no multiple of 4.
        let zeros = ((exponent % 4) + 4) % 4, last = (exponent - zeros) / 4
        var words: [UInt16] = [0, 0, number.isNegative ? 0x4000 : 0, UInt16(truncatingIfNeeded: max(0, -exponent))]
        var base: UInt128 = 10_000, factor: UInt16 = 1, count = 0
        for _ in 0..<zeros { (base, factor) = (base / 10, factor * 10) }
        while rest > 0 {
            let (others, digit) = rest.quotientAndRemainder(dividingBy: base)
            // The server has no trailing zeros.
            if digit > 0 || words.count > 4 { words.append(UInt16(digit) * factor) }
            (rest, base, factor, count) = (others, 10_000, 1, count + 1)
        }
        words[4...].reverse()
        words[0] = UInt16(words.count - 4)
        if count > 0 { words[1] = UInt16(truncatingIfNeeded: last + count - 1) }
        return words
    }
}
#endif
