import Foundation
import PolystoreSchema
import Testing

/// Results are those of Foundation's functions, which FoundationEssentials lacks.
@Suite struct DecimalRoundingTests {
    private static let rules: [(FloatingPointRoundingRule, NSDecimalNumber.RoundingMode)] = [
        (.down, .down), (.up, .up), (.toNearestOrAwayFromZero, .plain), (.toNearestOrEven, .bankers),
    ]

    /// Numbers of all lengths with exponents far from the limits, and ties.
    private static let numbers: [Decimal] = {
        var numbers = ["0", "0.5", "-0.5", "1.5", "2.5", "-2.5", "1e20", "-1e-20", "99999999999999999999999999999999999999.5"].compactMap {
            Decimal(string: $0)
        }
        for length in 1...38 {
            for exponent in [-38, -20, -length, 1 - length, -1, 0, 3] {
                let digits = (0..<length).map { _ in String(Int.random(in: 0...9)) }.joined()
                numbers.append(Decimal(string: "\(Bool.random() ? "-" : "")\(digits)e\(exponent)") ?? .nan)
            }
        }
        return numbers
    }()

    @Test func roundingIsThatOfFoundation() {
        for number in Self.numbers {
            for places in [-39, -38, -3, -1, 0, 1, 5, 19, 30, 38, 60] {
                for (rule, mode) in Self.rules {
                    var source = number, expected = Decimal()
                    NSDecimalRound(&expected, &source, places, mode)
                    #expect(number.rounded(rule, places: places) == expected, "\(number), \(places) places, \(rule)")
                }
            }
        }
        #expect(Decimal.nan.rounded(.down).isNaN)
    }

    @Test func productsAndQuotientsAreThoseOfFoundation() {
        for (x, y) in zip(Self.numbers, Self.numbers.shuffled()) where y != 0 {
            var a = x, b = y, product = Decimal(), quotient = Decimal()
            _ = NSDecimalMultiply(&product, &a, &b, .plain)
            _ = NSDecimalDivide(&quotient, &a, &b, .plain)
            #expect(x * y == product, "\(x) * \(y)")
            #expect(x / y == quotient, "\(x) / \(y)")
        }
    }
}
