package import Foundation

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
