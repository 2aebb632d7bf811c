internal import PolystoreFoundation
internal import PolystoreSchema

/// Exact comparisons between numbers of different types.
enum ExactNumber {
    /// Returns the order of two values of one type, or of two numbers; nil for values that cannot be compared.
    static func compare(_ x: Value, _ y: Value) -> Int? {
        switch (x, y) {
        case (.double(let a), _) where a.isNaN, (_, .double(let a)) where a.isNaN: nil
        case (.int(let a), .double(let b)): compare(a, b)
        case (.double(let a), .int(let b)): -compare(b, a)
        case (.int(let a), .decimal(let b)): Value.decimal(Decimal(a)).compare(to: .decimal(b))
        case (.decimal(let a), .int(let b)): Value.decimal(a).compare(to: .decimal(Decimal(b)))
        case (.decimal(let a), .double(let b)): compare(a, b)
        case (.double(let a), .decimal(let b)): -compare(b, a)
        case (.null, _), (.bool, _), (.int, _), (.double, _), (.decimal, _), (.string, _), (.date, _), (.uuid, _), (.data, _):
            x.type == y.type && !x.isNull ? x.compare(to: y) : nil
        }
    }

    static func compare(_ a: Int64, _ b: Double) -> Int {
        if b >= 9_223_372_036_854_775_808 { return -1 }
        if b < -9_223_372_036_854_775_808 { return 1 }
        let whole = Int64(b.rounded(.down))
        if a != whole { return a < whole ? -1 : 1 }
        return b > Double(whole) ? -1 : 0
    }

    static func compare(_ a: Decimal, _ b: Double) -> Int {
        switch decimalFloor(b) {
        case .below: 1
        case .above: -1
        case .at(let decimal, let isExact): a != decimal ? (a < decimal ? -1 : 1) : (isExact ? 0 : -1)
        }
    }

    /// The position of a number relative to the values of another type.
    enum Floor {
        /// Below all values.
        case below
        /// Above all values.
        case above
        /// The greatest value that is not greater than the number.
        case at(Decimal, isExact: Bool)
    }

    /// Returns the greatest decimal of at most 38 digits that is not greater than a double.
    ///
    /// `%f` prints the exact expansion of a double: every binary fraction is a finite decimal one.
    static func decimalFloor(_ value: Double) -> Floor {
        if value == 0 { return .at(0, isExact: true) }
        let text = value.isFinite ? expansion(abs(value)) : ""
        let parts = text.split(separator: ".")
        guard parts.count == 2 else { return value > 0 ? .above : .below }
        let all = (parts[0] + parts[1]).utf8.map { $0 - UInt8(ascii: "0") }
        let leading = all.prefix { $0 == 0 }.count
        // The power of ten of the first digit determines how many digits a decimal can store.
        let power = parts[0].count - leading - 1
        if power > 38 + DecimalDigits.greatestExponent { return value > 0 ? .above : .below }
        let count = min(DecimalKey.maximumDigits, max(power - DecimalDigits.leastExponent + 1, 0))
        let digits = all.dropFirst(leading).prefix(count)
        let isExact = all.dropFirst(leading + count).allSatisfy { $0 == 0 }
        let exponent = max(power - count + 1, DecimalDigits.leastExponent)
        var mantissa = digits.reduce(UInt128(0)) { $0 * 10 + UInt128($1) }
        if value < 0, !isExact { mantissa += 1 }
        guard let decimal = DecimalDigits.decimal(mantissa, exponent, isNegative: value < 0) else { return value > 0 ? .above : .below }
        return .at(decimal, isExact: isExact)
    }

    private static func expansion(_ value: Double) -> String {
        // 309 digits before the point, and the zero at the end.
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 309 + 1 + 1100 + 1) { text in
            let count = withVaList([value]) { vsnprintf(text.baseAddress, text.count, "%.1100f", $0) }
            return String(decoding: text.prefix(max(Int(count), 0)).lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    /// Returns the greatest double that is not greater than a decimal, and whether it is equal to it.
    static func floor(_ value: Decimal) -> (Double, isExact: Bool) {
        var nearest = Double(value.description) ?? 0
        var order = compare(value, nearest)
        if order < 0 {
            nearest = nearest.nextDown
            order = 1
        }
        return (nearest, order == 0)
    }

    /// Returns the greatest double that is not greater than a whole number, and whether it is equal to it.
    static func floor(_ value: Int64) -> (Double, isExact: Bool) {
        var nearest = Double(value)
        var order = compare(value, nearest)
        if order < 0 {
            nearest = nearest.nextDown
            order = 1
        }
        return (nearest, order == 0)
    }
}
