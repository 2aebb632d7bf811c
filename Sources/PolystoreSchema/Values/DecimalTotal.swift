package import PolystoreFoundation

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
        if number.isNaN { return false }
        add(DecimalDigits.parts(number))
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
