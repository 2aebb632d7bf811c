import Foundation
import PolystoreStorage
import Testing

@testable import PolystoreTransfer

/// The conversion of values to other types.
@Suite struct ValueConversionTests {
    /// A value and its conversion.
    struct Case: Sendable, CustomTestStringConvertible {
        let type: ValueType
        let value: Value
        let other: ValueType
        let result: ValueConversion.Result

        init(_ type: ValueType, _ value: Value, _ other: ValueType, _ result: ValueConversion.Result) {
            self.type = type
            self.value = value
            self.other = other
            self.result = result
        }

        var testDescription: String { "\(type) \(value) to \(other)" }
    }

    private static func decimal(_ text: String) -> Value { .decimal(Decimal(string: text) ?? .nan) }

    private static let greatest = Double(Float.greatestFiniteMagnitude)

    static let numbers = [
        Case(.bool, .bool(true), .int16, .exact(.int(1))), Case(.bool, .bool(false), .decimal, .exact(decimal("0"))),
        Case(.int64, .int(1), .bool, .exact(.bool(true))), Case(.int64, .int(2), .bool, .nearest(.bool(true))),
        Case(.int64, .int(-5), .bool, .nearest(.bool(false))),
        Case(.int64, .int(32_767), .int16, .exact(.int(32_767))), Case(.int64, .int(32_768), .int16, .nearest(.int(32_767))),
        Case(.int64, .int(.min), .int32, .nearest(.int(-2_147_483_648))),
        Case(.int64, .int(9_007_199_254_740_992), .double, .exact(.double(9_007_199_254_740_992))),
        Case(.int64, .int(9_007_199_254_740_993), .double, .nearest(.double(9_007_199_254_740_992))),
        Case(.int64, .int(.max), .double, .nearest(.double(9_223_372_036_854_775_808))),
        // The shortest digits of the nearest number, which is 1152921504606846976.
        Case(.int64, .int(1_152_921_504_606_847_000), .double, .nearest(.double(1_152_921_504_606_846_976))),
        Case(.int64, .int(1_152_921_504_606_846_976), .double, .exact(.double(1_152_921_504_606_846_976))),
        Case(.double, .double(1.5e38), .decimal, .exact(decimal("150000000000000000000000000000000000000"))),
        Case(.string, .string("1e-9223372036854775808"), .double, .none),
        Case(.string, .string("0e-9223372036854775808"), .int64, .none),
        Case(.int64, .int(.min), .double, .exact(.double(-9_223_372_036_854_775_808))),
        Case(.int64, .int(16_777_217), .float, .nearest(.double(16_777_216))),
        Case(.int64, .int(.max), .decimal, .exact(decimal("9223372036854775807"))),
        Case(.double, .double(-3), .int64, .exact(.int(-3))), Case(.double, .double(2.5), .int64, .nearest(.int(3))),
        Case(.double, .double(-2.5), .int64, .nearest(.int(-3))), Case(.double, .double(0.4), .int64, .nearest(.int(0))),
        Case(.double, .double(1e300), .int64, .nearest(.int(.max))),
        Case(.double, .double(9_223_372_036_854_775_808), .int64, .nearest(.int(.max))),
        Case(.double, .double(-.infinity), .int32, .nearest(.int(-2_147_483_648))),
        Case(.double, .double(0.1), .decimal, .exact(decimal("0.1"))),
        Case(.double, .double(1_152_921_504_606_846_976), .decimal, .exact(decimal("1152921504606846976"))),
        Case(.double, .double(1e300), .decimal, .none), Case(.double, .double(1e-300), .decimal, .nearest(decimal("0"))),
        Case(.double, .double(.infinity), .decimal, .none),
        Case(.double, .double(0.5), .float, .exact(.double(0.5))),
        Case(.double, .double(0.1), .float, .nearest(.double(Double(Float(0.1))))),
        Case(.double, .double(-1e300), .float, .nearest(.double(-greatest))),
        Case(.double, .double(.infinity), .float, .exact(.double(.infinity))),
        Case(.float, .double(Double(Float(0.1))), .double, .exact(.double(Double(Float(0.1))))),
        Case(.float, .double(Double(Float(0.1))), .decimal, .exact(decimal("0.1"))),
        Case(.decimal, decimal("0.1"), .double, .exact(.double(0.1))),
        Case(.decimal, decimal("0.1"), .float, .exact(.double(Double(Float(0.1))))),
        Case(.decimal, decimal("0.1000000000000000000001"), .double, .nearest(.double(0.1))),
        // The full form of 2^-30.
        Case(.decimal, decimal("0.000000000931322574615478515625"), .double, .exact(.double(0x1p-30))),
        Case(.decimal, decimal("1e100"), .float, .nearest(.double(greatest))),
        Case(.decimal, decimal("7.00"), .int16, .exact(.int(7))), Case(.decimal, decimal("99999.5"), .int16, .nearest(.int(32_767))),
        Case(.decimal, decimal("9.5"), .int16, .nearest(.int(10))), Case(.decimal, decimal("9.4999"), .int16, .nearest(.int(9))),
    ]

    static let texts = [
        Case(.int64, .int(-7), .string, .exact(.string("-7"))), Case(.bool, .bool(true), .string, .exact(.string("true"))),
        Case(.double, .double(0.1), .string, .exact(.string("0.1"))), Case(.double, .double(-.infinity), .string, .exact(.string("-inf"))),
        Case(.float, .double(Double(Float(0.1))), .string, .exact(.string("0.1"))),
        Case(.decimal, decimal("12.50"), .string, .exact(.string("12.5"))),
        Case(.date, .date(1_500_000), .string, .exact(.string("1970-01-01T00:00:01.5Z"))),
        Case(.data, .data(Data([1, 2])), .string, .exact(.string("AQI="))),
        Case(.url, .string("a:b"), .string, .exact(.string("a:b"))), Case(.string, .string(""), .url, .none),
        Case(.string, .string("a:b"), .url, .exact(.string("a:b"))),
        Case(.string, .string("007"), .int16, .exact(.int(7))), Case(.string, .string("12.0"), .int64, .exact(.int(12))),
        Case(.string, .string("1e3"), .int64, .exact(.int(1000))), Case(.string, .string("1.5"), .int64, .nearest(.int(2))),
        Case(.string, .string("99999999999999999999"), .int64, .nearest(.int(.max))),
        Case(.string, .string(" 1"), .int64, .none), Case(.string, .string(""), .int64, .none),
        Case(.string, .string("0x10"), .int64, .none),
        Case(.string, .string("1e"), .int64, .none), Case(.string, .string("."), .int64, .none),
        Case(.string, .string("0.1"), .double, .exact(.double(0.1))), Case(.string, .string("1e300"), .double, .exact(.double(1e300))),
        Case(.string, .string("9007199254740993"), .double, .nearest(.double(9_007_199_254_740_992))),
        Case(.string, .string("1e400"), .double, .nearest(.double(.greatestFiniteMagnitude))),
        Case(.string, .string("1e-400"), .double, .nearest(.double(0))), Case(.string, .string("nan"), .double, .none),
        Case(.string, .string("-inf"), .double, .exact(.double(-.infinity))), Case(.string, .string("inf"), .int16, .nearest(.int(32_767))),
        Case(.string, .string("1.50"), .decimal, .exact(decimal("1.5"))),
        Case(
            .string, .string("1.00000000000000000000000000000000000005"), .decimal,
            .nearest(decimal("1.0000000000000000000000000000000000001"))),
        Case(.string, .string("1e200"), .decimal, .none),
        Case(.string, .string("True"), .bool, .exact(.bool(true))), Case(.string, .string("2"), .bool, .none),
        Case(.string, .string("1970-01-01"), .date, .exact(.date(0))),
        Case(.string, .string("1970-01-01T00:00:00.0000010Z"), .date, .exact(.date(1))),
        Case(.string, .string("1970-01-01T00:00:00.0000014Z"), .date, .nearest(.date(1))), Case(.string, .string("today"), .date, .none),
        Case(.string, .string("AQI="), .data, .exact(.data(Data([1, 2])))), Case(.string, .string("?"), .data, .none),
        Case(.string, .string("x"), .uuid, .none),
    ]

    @Test(arguments: numbers + texts) func aValueIsExactNearOrNone(_ test: Case) throws {
        let conversion = try #require(ValueConversion(from: test.type, to: test.other))
        #expect(conversion.convert(test.value) == test.result)
        #expect(conversion.convert(.null) == .exact(.null))
    }

    @Test func aUUIDIsItsBytes() throws {
        let id = try #require(UUID(uuidString: "00010203-0405-0607-0809-0A0B0C0D0E0F")), bytes = Value.data(Data(0..<16))
        #expect(ValueConversion(from: .uuid, to: .data)?.convert(.uuid(id)) == .exact(bytes))
        #expect(ValueConversion(from: .data, to: .uuid)?.convert(bytes) == .exact(.uuid(id)))
        #expect(ValueConversion(from: .data, to: .uuid)?.convert(.data(Data(0..<15))) == ValueConversion.Result.none)
        #expect(ValueConversion(from: .string, to: .uuid)?.convert(.string("00010203-0405-0607-0809-0a0b0c0d0e0f")) == .exact(.uuid(id)))
    }

    @Test func typesWithoutACommonMeaningHaveNoConversion() {
        for (type, other) in [(ValueType.date, ValueType.int64), (.int64, .uuid), (.bool, .date), (.url, .data), (.double, .double)] {
            #expect(ValueConversion(from: type, to: other) == nil)
        }
    }

    /// What becomes a text comes back unchanged.
    @Test func everyTextOfANumberIsReadAgain() throws {
        let numbers: [Double] = [0.1, 1e22, .leastNonzeroMagnitude, 1.7976931348623157e308, 123_456_789.25, -1.0 / 3]
        for number in numbers {
            let there = try #require(ValueConversion(from: .double, to: .string))
            let back = try #require(ValueConversion(from: .string, to: .double))
            guard case .exact(let text) = there.convert(.double(number)) else {
                Issue.record("\(number) has no text")
                continue
            }
            #expect(back.convert(text) == .exact(.double(number)))
        }
    }
}
