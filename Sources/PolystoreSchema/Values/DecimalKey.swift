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

/// The conversion of decimal numbers to and from digits.
package enum DecimalDigits {
    /// The exponents that Foundation's `Decimal` supports.
    package static let leastExponent = -128, greatestExponent = 127

    /// The exponents that the first digit of a number can have.
    static let firstDigits = leastExponent...(greatestExponent + DecimalKey.maximumDigits)

    /// An integer multiplied by a power of ten, and a sign.
    package struct Parts: Sendable, Hashable {
        /// The integer.
        package let mantissa: UInt128
        /// The power of ten.
        package let exponent: Int
        /// Whether the number is negative.
        package let isNegative: Bool
    }

    /// Returns an integer multiplied by a power of ten, or nil if no `Decimal` equals it.
    ///
    /// Foundation's arithmetic returns NaN or 0 near the limits of the exponent, even if trailing zeros of the number could compensate. Its
    /// parser does not.
    package static func decimal(_ mantissa: UInt128, _ exponent: Int, isNegative: Bool) -> Decimal? {
        if mantissa == 0 { return 0 }
        if exponent > leastExponent, exponent < greatestExponent - maximumZeros {
            let low = Decimal(UInt64(truncatingIfNeeded: mantissa)), high = UInt64(truncatingIfNeeded: mantissa >> 64)
            let significand = high == 0 ? low : Decimal(high) * two64 + low
            return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: significand)
        }
        var mantissa = mantissa, exponent = exponent
        while exponent > greatestExponent {
            let (product, overflows) = mantissa.multipliedReportingOverflow(by: 10)
            if overflows { return nil }
            mantissa = product
            exponent -= 1
        }
        while exponent < leastExponent {
            guard mantissa % 10 == 0 else { return nil }
            mantissa /= 10
            exponent += 1
        }
        return Decimal(string: "\(isNegative ? "-" : "")\(mantissa)e\(exponent)")
    }

    private static let two64 = Decimal(UInt64.max) + 1
    /// The maximum number of trailing zeros of a mantissa.
    private static let maximumZeros = 38

    /// Returns the significant digits without leading and trailing zeros, and the exponent of the first digit. Zero has no digits.
    static func split(_ value: Decimal) -> (digits: [UInt8], exponent: Int) {
        var digits: [UInt8] = []
        var pointAt: Int?
        // The description is positional and exact. Foundation has no other public access to all 38 digits on every platform.
        for byte in value.description.utf8 {
            switch byte {
            case UInt8(ascii: "."): pointAt = digits.count
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.append(byte - UInt8(ascii: "0"))
            default: break
            }
        }
        let leading = digits.prefix { $0 == 0 }.count
        let exponent = (pointAt ?? digits.count) - leading - 1
        digits.removeFirst(leading)
        while digits.last == 0 { digits.removeLast() }
        return (digits, exponent)
    }
}
