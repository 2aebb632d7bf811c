package import PolystoreFoundation

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

    /// The least integer with more digits than a decimal can have.
    static let limit = UInt128(10_000_000_000_000_000_000) * 10_000_000_000_000_000_000

    /// Returns the integer, power of ten and sign of a number. The integer is 0 for zero and NaN.
    @inline(__always)
    package static func parts(_ value: Decimal) -> Parts { isLayoutKnown ? fields(value) : described(value) }

    /// Reads the digits of a number from its memory: eight words of 16 bits after four bytes, least significant first, of which the second
    /// byte counts those that are used. Every Foundation has this layout, but not all of them show it, and the way through a text takes many
    /// times as long.
    @inline(__always)
    private static func fields(_ value: Decimal) -> Parts {
        withUnsafeBytes(of: value) { bytes in
            #if canImport(Darwin)
            let count = UInt128(bytes[1] & 0xf)
            #else
            let count = UInt128(bytes[1] >> 4)
            #endif
            let words = UInt128(littleEndian: bytes.loadUnaligned(fromByteOffset: 4, as: UInt128.self))
            let isUsed = count < 8 ? (1 as UInt128) << (16 * count) - 1 : UInt128.max
            return Parts(mantissa: words & isUsed, exponent: value.exponent, isNegative: value.isSignMinus)
        }
    }

    /// Returns the parts by public means.
    static func described(_ value: Decimal) -> Parts {
        let mantissa = value.isNaN ? 0 : UInt128(value.significand.description) ?? 0
        return Parts(mantissa: mantissa, exponent: value.exponent, isNegative: value.isSignMinus)
    }

    /// Whether the digits in memory are those that Foundation describes, for numbers of each length.
    private static let isLayoutKnown: Bool = {
        let lengths = (0...8).map { (UInt128.max / 3) >> UInt128(128 - 16 * $0) }
        let numbers = lengths.flatMap { ["\($0)", "-\($0)e-9"] }.compactMap { Decimal(string: $0) }
        return MemoryLayout<Decimal>.size == 20 && numbers.allSatisfy { fields($0) == described($0) }
    }()
}

extension DecimalDigits.Parts {
    /// The same number with an integer that does not end in 0.
    var withoutZeros: DecimalDigits.Parts {
        if mantissa == 0 { return self }
        var mantissa = mantissa, exponent = exponent
        // Division of 128 bits is slow, and few numbers need it.
        while mantissa > UInt128(UInt64.max), mantissa % 10 == 0 {
            mantissa /= 10
            exponent += 1
        }
        if var small = UInt64(exactly: mantissa) {
            while small % 10 == 0 {
                small /= 10
                exponent += 1
            }
            mantissa = UInt128(small)
        }
        return DecimalDigits.Parts(mantissa: mantissa, exponent: exponent, isNegative: isNegative)
    }
}
