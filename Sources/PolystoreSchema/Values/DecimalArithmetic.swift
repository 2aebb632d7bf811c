package import Foundation

/// Arithmetic of decimal numbers in the range of the attribute type: 38 significant digits, exponents from -128 to 127.
///
/// A result with more digits is rounded, half away from zero. A result below the last decimal place is rounded to that place, and
/// ultimately to 0. A result above the range is nil.
///
/// Foundation's functions end the process if the exponent of a result falls below the minimum, keep a 39th digit if their bits suffice for
/// it, and silently truncate a digit of a sum. Here they are used only far from their limits.
package enum DecimalArithmetic {
    /// Returns x + y.
    package static func sum(_ x: Decimal, _ y: Decimal) -> Decimal? {
        if isShort(x), isShort(y), abs(x.exponent - y.exponent) <= shortDigits { return x + y }
        var total = DecimalTotal()
        guard total.add(x), total.add(y) else { return nil }
        return total.rounded
    }

    /// Returns x - y.
    package static func difference(_ x: Decimal, _ y: Decimal) -> Decimal? { sum(x, -y) }

    /// Returns x * y.
    package static func product(_ x: Decimal, _ y: Decimal) -> Decimal? {
        computed(x, y, exponent: x.exponent + y.exponent) { NSDecimalMultiply(&$0, &$1, &$2, .plain) }
    }

    /// Returns x / y, accurate to 38 decimal places of the quotient of their digits. y must not be 0.
    package static func quotient(_ x: Decimal, _ y: Decimal) -> Decimal? {
        computed(x, y, exponent: x.exponent - y.exponent) { NSDecimalDivide(&$0, &$1, &$2, .plain) }
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
        if number.isNaN || number.exponent >= 0 || number.significand <= most { return number }
        return rounded(number, by: 0) ?? number
    }

    /// Numbers with this many digits, and as many zeros after them, are far from Foundation's limits.
    private static let shortDigits = 18
    private static let short = Decimal(string: "1e18") ?? 0

    private static func isShort(_ number: Decimal) -> Bool { number.significand < short }

    private static func digits(_ number: Decimal) -> UInt128? { UInt128(number.significand.description) }

    /// Returns the result of an operation of Foundation. If the exponent could come close to the limits, the operation is applied to the
    /// digits alone.
    private static func computed(
        _ x: Decimal, _ y: Decimal, exponent: Int,
        _ operation: (inout Decimal, inout Decimal, inout Decimal) -> Decimal.CalculationError
    ) -> Decimal? {
        if x == 0 || y == 0 { return 0 }
        let margin = DecimalKey.maximumDigits + 2
        let isSafe = exponent >= DecimalDigits.leastExponent + margin && exponent <= DecimalDigits.greatestExponent - margin
        var a = isSafe ? x : x.significand, b = isSafe ? y : y.significand, result = Decimal()
        _ = operation(&result, &a, &b)
        if result.isNaN { return nil }
        if !isSafe, (x < 0) != (y < 0) { result.negate() }
        return rounded(result, by: isSafe ? 0 : exponent)
    }

    /// Returns a number multiplied by a power of ten, rounded to the digits of the type.
    private static func rounded(_ number: Decimal, by exponent: Int) -> Decimal? {
        var number = number, result = number
        if number.significand > most { NSDecimalRound(&result, &number, -(number.exponent + 1), .plain) }
        if exponent == 0 { return result }
        if result.exponent + exponent < DecimalDigits.leastExponent {
            number = result
            NSDecimalRound(&result, &number, exponent - DecimalDigits.leastExponent, .plain)
        }
        return digits(result).flatMap { DecimalDigits.decimal($0, result.exponent + exponent, isNegative: result < 0) }
    }

    /// The greatest number with 38 digits.
    private static let most = Decimal(string: String(repeating: "9", count: DecimalKey.maximumDigits)) ?? 0
}

/// The exact total of decimal numbers, independent of their order.
package struct DecimalTotal: Sendable {
    private static let limbDigits = 9, limb: Int64 = 1_000_000_000
    /// The exponent of the first limb: that of the least number, whose digits may be written with one more zero.
    private static let leastExponent = DecimalDigits.leastExponent - 1

    /// The limbs, least significant first, with nine digits each, the signs of the added numbers, and no carries. 9 * 10^9 numbers can be
    /// added.
    private var limbs: [Int64] = []

    /// Creates a total of zero.
    package init() {}

    /// Adds a number.
    ///
    /// - Returns: Whether the number was added. NaN is not.
    package mutating func add(_ number: Decimal) -> Bool {
        guard !number.isNaN, let digits = UInt128(number.significand.description) else { return false }
        add(DecimalDigits.Parts(mantissa: digits, exponent: number.exponent, isNegative: number < 0))
        return true
    }

    /// Adds a number.
    package mutating func add(_ number: DecimalDigits.Parts) {
        var (index, shift) = (number.exponent - Self.leastExponent).quotientAndRemainder(dividingBy: Self.limbDigits)
        var factor: Int64 = number.isNegative ? -1 : 1
        while shift > 0 {
            factor *= 10
            shift -= 1
        }
        var rest = number.mantissa
        while rest != 0 {
            let (high, low) = rest.quotientAndRemainder(dividingBy: UInt128(Self.limb))
            let product = Int64(low) * factor
            while limbs.count < index + 2 { limbs.append(0) }
            limbs[index] += product % Self.limb
            limbs[index + 1] += product / Self.limb
            rest = high
            index += 1
        }
    }

    /// The total, or nil if it has more digits than the type.
    package var exact: Decimal? { number(rounding: false) }

    /// The total rounded to 38 significant digits, or nil if it is above the range of the type.
    package var rounded: Decimal? { number(rounding: true) }

    private func number(rounding: Bool) -> Decimal? {
        var limbs = limbs + [0, 0]
        Self.carry(&limbs)
        let isNegative = limbs[limbs.count - 1] < 0
        if isNegative {
            for index in limbs.indices { limbs[index].negate() }
            Self.carry(&limbs)
        }
        var digits: [UInt8] = []
        for limb in limbs.reversed() {
            let text = String(limb)
            digits += repeatElement(0, count: Self.limbDigits - text.utf8.count) + text.utf8.map { $0 - UInt8(ascii: "0") }
        }
        digits.removeFirst(digits.prefix { $0 == 0 }.count)
        let zeros = digits.reversed().prefix { $0 == 0 }.count
        if digits.count - zeros > DecimalKey.maximumDigits, !rounding { return nil }
        let cut = max(digits.count - DecimalKey.maximumDigits, rounding ? 0 : zeros)
        var mantissa = digits.dropLast(cut).reduce(UInt128(0)) { $0 * 10 + UInt128($1) }
        if rounding, cut > 0, digits[digits.count - cut] >= 5 { mantissa += 1 }
        return DecimalDigits.decimal(mantissa, Self.leastExponent + cut, isNegative: isNegative)
    }

    /// Propagates carries so that all limbs except the last have nine digits. The last limb has the sign of the total.
    private static func carry(_ limbs: inout [Int64]) {
        for index in limbs.indices.dropLast() {
            let rest = limbs[index] % limb, low = rest < 0 ? rest + limb : rest
            limbs[index + 1] += (limbs[index] - low) / limb
            limbs[index] = low
        }
    }
}
