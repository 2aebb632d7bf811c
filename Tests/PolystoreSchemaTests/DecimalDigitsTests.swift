import Foundation
import Testing

@testable import PolystoreSchema

/// The digits of a number are read from its memory; its description is the reference.
@Suite struct DecimalDigitsTests {
    @Test func keysAreThoseOfTheDescription() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<100_000 {
            let mantissa = UInt128.random(in: 0...UInt128.max, using: &random) >> UInt128.random(in: 0...127, using: &random)
            let exponent = Int.random(in: -128...127, using: &random)
            let zeros = UInt128.random(in: 0...3, using: &random) == 0 ? mantissa / 1_000_000_000 * 1_000_000_000 : mantissa
            try check("\(Bool.random(using: &random) ? "-" : "")\(zeros)e\(exponent)")
        }
    }

    @Test(arguments: [
        "0", "-0", "0e127", "1", "-1", "10", "100", "0.1", "0.10", "1e127", "-1e-128", "9e-128", "99999999999999999999999999999999999999",
        "-99999999999999999999999999999999999999e-128", "340282366920938463463374607431768211455",
        "340282366920938463463374607431768211455e127",
        "100000000000000000000000000000000000000", "18446744073709551615", "18446744073709551616", "-1000000000000000000",
        "999999999999999999999999999999999999", "1000000000000000000000000000000000000", "0.00000000000000000000000000000000000001",
    ])
    func keysOfExtremeNumbersAreThoseOfTheDescription(_ text: String) throws { try check(text) }

    @Test func notANumberHasNoDigits() {
        #expect(DecimalKey.encode(.nan) == [0x80])
        #expect(DecimalDigits.parts(.nan).mantissa == 0)
    }

    @Test func partsAreThoseOfTheText() throws {
        let number = try #require(Decimal(string: "-12345678901234567890123456789012345678e-128"))
        let parts = DecimalDigits.parts(number)
        #expect(parts.mantissa == 12_345_678_901_234_567_890_123_456_789_012_345_678)
        #expect(parts.exponent == -128 && parts.isNegative)
    }

    /// Numbers of few digits are added and multiplied as integers; the descriptions of the results of Foundation are the reference.
    @Test func shortSumsAndProductsAreThoseOfFoundation() throws {
        for _ in 0..<20_000 {
            let numbers = try (0..<2).map { _ in
                let digits = Int64.random(in: -1_000_000_000_000...1_000_000_000_000) >> Int64.random(in: 0...40)
                return try #require(Decimal(string: "\(digits)e\(Int.random(in: -20...10))"))
            }
            let (x, y) = (numbers[0], numbers[1])
            if DecimalArithmetic.product(x, y) != x * y { Issue.record("\(x) * \(y)") }
            if abs(x.exponent - y.exponent) <= 18, DecimalArithmetic.sum(x, y) != x + y { Issue.record("\(x) + \(y)") }
        }
    }

    private func check(_ text: String) throws {
        let number = try #require(Decimal(string: text)), expected = Self.key(number)
        if DecimalKey.encode(number) != expected { Issue.record("\(text): \(DecimalKey.encode(number)), not \(expected)") }
        let parts = DecimalDigits.parts(number), sum = DecimalDigits.decimal(parts.mantissa, parts.exponent, isNegative: parts.isNegative)
        if sum != number { Issue.record("\(text): \(parts)") }
    }

    /// The key as its documentation defines it, from the digits of the description.
    private static func key(_ value: Decimal) -> [UInt8] {
        var digits: [UInt8] = [], pointAt: Int?
        for byte in value.description.utf8 {
            if byte == UInt8(ascii: ".") { pointAt = digits.count }
            if byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { digits.append(byte - UInt8(ascii: "0")) }
        }
        let leading = digits.prefix { $0 == 0 }.count, exponent = (pointAt ?? digits.count) - leading - 1
        digits.removeFirst(leading)
        while digits.last == 0 { digits.removeLast() }
        if digits.isEmpty { return [0x80] }
        if digits.count % 2 == 1 { digits.append(0) }
        let biased = UInt16(exponent + 32_768)
        var bytes: [UInt8] = [0x81, UInt8(biased >> 8), UInt8(biased & 0xff)]
        for pair in stride(from: 0, to: digits.count, by: 2) { bytes.append(digits[pair] * 10 + digits[pair + 1] + 1) }
        bytes.append(0)
        return value < 0 ? bytes.map { ~$0 } : bytes
    }
}
