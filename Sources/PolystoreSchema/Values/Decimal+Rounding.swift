package import PolystoreFoundation

extension Decimal {
    /// Returns the nearest number with at most the given decimal places. Negative places count digits before the decimal point.
    ///
    /// FoundationEssentials has no public rounding.
    package func rounded(_ rule: FloatingPointRoundingRule, places: Int = 0) -> Decimal {
        let parts = DecimalDigits.parts(self), dropped = -places - parts.exponent
        if isNaN || dropped <= 0 || parts.mantissa == 0 { return self }
        let unit = Self.power(of: dropped)
        let (quotient, rest) = unit.map { parts.mantissa.quotientAndRemainder(dividingBy: $0) } ?? (0, parts.mantissa)
        // A unit above 128 bits is more than twice any mantissa.
        let half = unit.map { rest == $0 - rest ? 0 : rest < $0 - rest ? -1 : 1 } ?? -1
        let isUp =
            switch rule {
            case .towardZero: false
            case .awayFromZero: rest > 0
            case .down: rest > 0 && parts.isNegative
            case .up: rest > 0 && !parts.isNegative
            case .toNearestOrAwayFromZero: half >= 0
            case .toNearestOrEven: half > 0 || half == 0 && quotient % 2 == 1
            @unknown default: half >= 0
            }
        return DecimalDigits.decimal(isUp ? quotient + 1 : quotient, -places, isNegative: parts.isNegative) ?? self
    }

    /// Returns a power of ten, or nil if it has more than 128 bits.
    private static func power(of exponent: Int) -> UInt128? {
        exponent <= 38 ? (0..<exponent).reduce(1) { power, _ in power * 10 } : nil
    }
}
