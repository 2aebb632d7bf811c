package import PolystoreFoundation

/// The order-preserving encoding of a decimal number: comparing two encodings byte by byte compares the numbers.
///
/// A number is written as d.ddd × 10^e without trailing zeros, so that 1.0 and 1.00 have the same bytes. Zero is `80`. A positive number is
/// `81`, e + 32768 as two big-endian bytes, each pair of digits as one byte (value + 1), and `00`. A negative number is the complement of
/// the bytes of its absolute value, beginning with `7E`.
package enum DecimalKey {
    /// The maximum number of significant digits.
    package static let maximumDigits = 38

    /// Returns the bytes of a number that is not NaN.
    package static func encode(_ value: Decimal) -> [UInt8] { withBytes(of: value) { Array($0) } }

    /// Calls a closure with the bytes of a number that is not NaN, which are valid only during the call.
    package static func withBytes<Result>(of value: Decimal, _ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let number = DecimalDigits.parts(value)
        return withUnsafeTemporaryAllocation(byteCount: mostDigits + mostBytes, alignment: 1) { buffer in
            let bytes = UnsafeMutableRawBufferPointer(rebasing: buffer[mostDigits...])
            let count = write(number, to: bytes, UnsafeMutableRawBufferPointer(rebasing: buffer[..<mostDigits]))
            return body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }

    /// The digits of the greatest integer of 128 bits, rounded up to pairs, and the bytes that they take with what surrounds them.
    private static let mostDigits = 40, mostBytes = 24

    /// Writes the bytes of a number, and returns their count. The digits are written from the end of the memory that is given for them.
    private static func write(
        _ number: DecimalDigits.Parts, to bytes: UnsafeMutableRawBufferPointer, _ digits: UnsafeMutableRawBufferPointer
    ) -> Int {
        guard number.mantissa != 0 else {
            bytes[0] = 0x80
            return 1
        }
        let start = write(number.mantissa, to: digits)
        var end = mostDigits
        while digits[end - 1] == 0 { end -= 1 }
        let flip: UInt8 = number.isNegative ? 0xff : 0
        let biased = UInt16(clamping: number.exponent + mostDigits - start - 1 + 32_768)
        bytes[0] = 0x81 ^ flip
        bytes[1] = UInt8(biased >> 8) ^ flip
        bytes[2] = UInt8(biased & 0xff) ^ flip
        var count = 3
        for pair in stride(from: start, to: end, by: 2) {
            let low = pair + 1 < end ? digits[pair + 1] : 0
            bytes[count] = (digits[pair] * 10 + low + 1) ^ flip
            count += 1
        }
        bytes[count] = flip
        return count + 1
    }

    /// Writes the digits of an integer, the last one at the end, and returns the position of the first. Division of 128 bits is slow, so that
    /// eighteen digits at a time are divided as 64 bits.
    private static func write(_ integer: UInt128, to digits: UnsafeMutableRawBufferPointer) -> Int {
        var position = digits.count, rest = integer, chunkEnd = digits.count
        while rest > UInt128(UInt64.max) {
            let (high, low) = rest.quotientAndRemainder(dividingBy: 1_000_000_000_000_000_000)
            rest = high
            chunkEnd -= 18
            var chunk = UInt64(low)
            while position > chunkEnd {
                position -= 1
                digits[position] = UInt8(chunk % 10)
                chunk /= 10
            }
        }
        var chunk = UInt64(rest)
        while chunk != 0 {
            position -= 1
            digits[position] = UInt8(chunk % 10)
            chunk /= 10
        }
        return position
    }

    /// Decodes a number. Returns nil if the bytes are ill-formed.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> Decimal? {
        parts(bytes).flatMap { DecimalDigits.decimal($0.mantissa, $0.exponent, isNegative: $0.isNegative) }
    }

    /// Decodes the digits, exponent, and sign of a number. Returns nil if the bytes are ill-formed.
    package static func parts(_ bytes: UnsafeRawBufferPointer) -> DecimalDigits.Parts? {
        guard let first = bytes.first else { return nil }
        if first == 0x80 { return bytes.count == 1 ? DecimalDigits.Parts(mantissa: 0, exponent: 0, isNegative: false) : nil }
        guard first == 0x81 || first == 0x7e, bytes.count >= 5 else { return nil }
        let flip: UInt8 = first == 0x7e ? 0xff : 0
        guard bytes[bytes.count - 1] ^ flip == 0 else { return nil }
        let exponent = (Int(bytes[1] ^ flip) << 8) + Int(bytes[2] ^ flip) - 32_768
        guard DecimalDigits.firstDigits.contains(exponent) else { return nil }
        let digits = 2 * (bytes.count - 4)
        guard digits <= maximumDigits else { return nil }
        var mantissa: UInt128 = 0
        for index in 3..<(bytes.count - 1) {
            let pair = bytes[index] ^ flip
            guard pair >= 1, pair <= 100 else { return nil }
            mantissa = mantissa * 100 + UInt128(pair - 1)
        }
        return DecimalDigits.Parts(mantissa: mantissa, exponent: exponent - (digits - 1), isNegative: flip != 0)
    }
}
