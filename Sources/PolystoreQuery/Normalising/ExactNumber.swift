internal import Foundation
internal import PolystoreSchema

/// Exact comparisons between numbers of different types.
enum ExactNumber {
    /// The order of two values of one type, or of two numbers; nil for values that cannot be compared.
    static func compare(_ x: Value, _ y: Value) -> Int? {
        switch (x, y) {
        case (.int(let a), .double(let b)): compare(a, b)
        case (.double(let a), .int(let b)): -compare(b, a)
        case (.int(let a), .decimal(let b)): Value.decimal(Decimal(a)).compare(to: .decimal(b))
        case (.decimal(let a), .int(let b)): Value.decimal(a).compare(to: .decimal(Decimal(b)))
        case (.decimal(let a), .double(let b)): compare(a, b)
        case (.double(let a), .decimal(let b)): -compare(b, a)
        case (.bool, .bool), (.int, .int), (.double, .double), (.decimal, .decimal), (.string, .string), (.date, .date), (.uuid, .uuid),
            (.data, .data):
            x.compare(to: y)
        default: nil
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
        if b.isInfinite { return b > 0 ? -1 : 1 }
        let (decimal, isExact) = floor(b)
        if a != decimal { return a < decimal ? -1 : 1 }
        return isExact ? 0 : -1
    }

    /// The greatest decimal of at most 38 digits that is not above a finite double, and whether it is equal to it.
    ///
    /// `%f` prints the exact expansion of a double: every binary fraction is a finite decimal one.
    static func floor(_ value: Double) -> (Decimal, isExact: Bool) {
        let text = String(format: "%.1100f", abs(value))
        let digits = text.filter { $0 != "." }.drop { $0 == "0" }
        let significant = digits.prefix(DecimalKey.maximumDigits)
        let isExact = digits.dropFirst(DecimalKey.maximumDigits).allSatisfy { $0 == "0" }
        let point = text.firstIndex(of: ".").map { text.distance(from: text.startIndex, to: $0) } ?? text.count
        let leading = text.filter { $0 != "." }.prefix { $0 == "0" }.count
        var mantissa = Decimal(0)
        for digit in significant { mantissa = mantissa * 10 + Decimal(digit.wholeNumberValue ?? 0) }
        let exponent = point - leading - significant.count
        guard mantissa != 0, exponent > -128, exponent < 127 else { return (value < 0 ? -Decimal.leastNonzeroMagnitude : 0, value == 0) }
        if value >= 0 { return (Decimal(sign: .plus, exponent: exponent, significand: mantissa), isExact) }
        let below = isExact ? mantissa : mantissa + 1
        return (Decimal(sign: .minus, exponent: exponent, significand: below), isExact)
    }

    /// The greatest double that is not above a decimal, and whether it is equal to it.
    static func floor(_ value: Decimal) -> (Double, isExact: Bool) {
        var nearest = Double(value.description) ?? 0
        var order = compare(value, nearest)
        if order < 0 {
            nearest = nearest.nextDown
            order = 1
        }
        return (nearest, order == 0)
    }

    /// The greatest double that is not above a whole number, and whether it is equal to it.
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
