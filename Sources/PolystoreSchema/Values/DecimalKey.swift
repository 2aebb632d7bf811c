package import Foundation

/// The order-preserving encoding of a decimal number: comparing two encodings byte by byte compares the numbers.
///
/// A number is written as d.ddd × 10^e without trailing zeros, so that 1.0 and 1.00 have the same bytes. Zero is `80`. A positive number is
/// `81`, e + 32768 as two big-endian bytes, each pair of digits as one byte (value + 1), and `00`. A negative number is the complement of
/// the bytes of its absolute value, beginning with `7E`.
package enum DecimalKey {
    /// The maximum number of significant digits.
    package static let maximumDigits = 38

    /// Returns the bytes of a number that is not NaN.
    package static func encode(_ value: Decimal) -> [UInt8] {
        let (digits, exponent) = DecimalDigits.split(value)
        guard !digits.isEmpty else { return [0x80] }
        let biased = UInt16(clamping: exponent + 32_768)
        var bytes: [UInt8] = [0x81, UInt8(biased >> 8), UInt8(biased & 0xff)]
        for pair in stride(from: 0, to: digits.count, by: 2) {
            let low = pair + 1 < digits.count ? digits[pair + 1] : 0
            bytes.append(digits[pair] * 10 + low + 1)
        }
        bytes.append(0)
        return value < 0 ? bytes.map { ~$0 } : bytes
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
