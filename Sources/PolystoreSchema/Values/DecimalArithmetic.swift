package import PolystoreFoundation

/// Arithmetic of decimal numbers in the range of the attribute type: 38 significant digits, exponents from -128 to 127.
///
/// A result with more digits is rounded, half away from zero. A result below the last decimal place is rounded to that place, and
/// ultimately to 0. A result above the range is nil.
///
/// Foundation's operators end the process if the exponent of a result falls below the minimum, keep a 39th digit if their bits suffice for
/// it, and silently truncate a digit of a sum. Here they are used only far from their limits.
package enum DecimalArithmetic {
    /// Returns x + y.
    package static func sum(_ x: Decimal, _ y: Decimal) -> Decimal? {
        if let sum = shortSum(DecimalDigits.parts(x), DecimalDigits.parts(y)), !x.isNaN, !y.isNaN { return sum }
        var total = DecimalTotal()
        guard total.add(x), total.add(y) else { return nil }
        return total.rounded
    }

    /// Returns x - y.
    package static func difference(_ x: Decimal, _ y: Decimal) -> Decimal? { sum(x, -y) }

    /// Returns x * y.
    package static func product(_ x: Decimal, _ y: Decimal) -> Decimal? {
        let a = DecimalDigits.parts(x), b = DecimalDigits.parts(y), exponent = a.exponent + b.exponent
        if let high = UInt64(exactly: a.mantissa), let low = UInt64(exactly: b.mantissa), isSafe(exponent), !x.isNaN, !y.isNaN {
            let (product, overflows) = high.multipliedReportingOverflow(by: low)
            if !overflows { return DecimalDigits.decimal(UInt128(product), exponent, isNegative: a.isNegative != b.isNegative) }
        }
        return computed(x, y, exponent: x.exponent + y.exponent, *)
    }

    /// Returns x / y, accurate to 38 decimal places of the quotient of their digits. y must not be 0.
    package static func quotient(_ x: Decimal, _ y: Decimal) -> Decimal? {
        computed(x, y, exponent: x.exponent - y.exponent, /)
    }

    /// Returns the exact remainder of x / y with the sign of x. y must not be 0.
    package static func remainder(_ x: Decimal, _ y: Decimal) -> Decimal? {
        guard let divisor = digits(y), var rest = digits(x) else { return nil }
        let exponent = min(x.exponent, y.exponent)
        if x.exponent >= y.exponent {
            rest %= divisor
            for _ in y.exponent..<x.exponent { rest = divisor.dividingFullWidth(rest.multipliedFullWidth(by: 10)).remainder }
        } else {
            var scaled = divisor
            for _ in x.exponent..<y.exponent {
                let (product, overflows) = scaled.multipliedReportingOverflow(by: 10)
                // The divisor is greater than any number with this many digits.
                if overflows { return x }
                scaled = product
            }
            rest %= scaled
        }
        return DecimalDigits.decimal(rest, exponent, isNegative: x < 0)
    }

    /// Returns a number without the 39th digit that Foundation's arithmetic keeps in a quotient or product if its bits suffice, rounded
    /// half away from zero. Only a digit after the decimal point is dropped: an integer remains unchanged.
    package static func withoutRest(_ number: Decimal) -> Decimal {
        if number.isNaN || number.exponent >= 0 || DecimalDigits.parts(number).mantissa < DecimalDigits.limit { return number }
        return rounded(number, by: 0) ?? number
    }

    /// Returns the sum of numbers with few digits that are not far from each other; nil for others.
    private static func shortSum(_ x: DecimalDigits.Parts, _ y: DecimalDigits.Parts) -> Decimal? {
        let digits = 18, exponent = min(x.exponent, y.exponent)
        func shifted(_ number: DecimalDigits.Parts) -> Int128? {
            guard number.mantissa < 1_000_000_000_000_000_000, number.exponent - exponent <= digits else { return nil }
            var factor: Int64 = number.isNegative ? -1 : 1
            for _ in exponent..<number.exponent { factor *= 10 }
            return Int128(number.mantissa) * Int128(factor)
        }
        guard let a = shifted(x), let b = shifted(y) else { return nil }
        return DecimalDigits.decimal((a + b).magnitude, exponent, isNegative: a + b < 0)
    }

    private static func digits(_ number: Decimal) -> UInt128? { number.isNaN ? nil : DecimalDigits.parts(number).mantissa }

    /// Returns the result of an operation of Foundation. If the exponent could come close to the limits, the operation is applied to the
    /// digits alone.
    private static func computed(
        _ x: Decimal, _ y: Decimal, exponent: Int, _ operation: (Decimal, Decimal) -> Decimal
    ) -> Decimal? {
        if x == 0 || y == 0 { return 0 }
        let isSafe = isSafe(exponent)
        var result = isSafe ? operation(x, y) : operation(x.significand, y.significand)
        if result.isNaN { return nil }
        if !isSafe, (x < 0) != (y < 0) { result.negate() }
        return rounded(result, by: isSafe ? 0 : exponent)
    }

    /// Returns whether an exponent is far from the limits, with any digits.
    private static func isSafe(_ exponent: Int) -> Bool {
        let margin = DecimalKey.maximumDigits + 2
        return exponent >= DecimalDigits.leastExponent + margin && exponent <= DecimalDigits.greatestExponent - margin
    }

    /// Returns a number multiplied by a power of ten, rounded to the digits of the type.
    private static func rounded(_ number: Decimal, by exponent: Int) -> Decimal? {
        var result = number
        if DecimalDigits.parts(number).mantissa >= DecimalDigits.limit {
            result = number.rounded(.toNearestOrAwayFromZero, places: -(number.exponent + 1))
        }
        if exponent == 0 { return result }
        if result.exponent + exponent < DecimalDigits.leastExponent {
            result = result.rounded(.toNearestOrAwayFromZero, places: exponent - DecimalDigits.leastExponent)
        }
        return digits(result).flatMap { DecimalDigits.decimal($0, result.exponent + exponent, isNegative: result < 0) }
    }
}
