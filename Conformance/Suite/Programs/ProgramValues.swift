internal import Foundation
internal import PolystoreStorage

/// The values that programs assign to attributes of a type: few, so that many objects have equal values, and including the limits of each
/// type. The cases for every type take their values from here.
struct ProgramValues {
    /// Values suitable for computations.
    let ordinary: [Value]
    /// The limits of the type, and values that are easily confused with others.
    let extreme: [Value]
    /// Values that attributes of the type do not accept.
    let refused: [Value]
    private let type: ValueType

    private static let longPart = "long text "

    /// A value of some 100,000 bytes; nil for types whose values are short.
    var long: Value? {
        switch type {
        case .string: .string(String(repeating: Self.longPart, count: 10_000))
        case .data: .data(Data(repeating: 9, count: 100_000))
        case .bool, .int16, .int32, .int64, .float, .double, .decimal, .date, .uuid, .url: nil
        }
    }

    init(_ type: ValueType) {
        switch type {
        case .bool: self.init(type, [.bool(true), .bool(false)], [], [.int(1)])
        case .int16: self.init(type, Self.small, [.int(Int64(Int16.min)), .int(Int64(Int16.max))], [.int(32_768), .string("1")])
        case .int32: self.init(type, Self.small, [.int(Int64(Int32.min)), .int(Int64(Int32.max))], [.int(2_147_483_648), .double(1)])
        case .int64: self.init(type, Self.small, [.int(.min), .int(.max), .int(9_007_199_254_740_993), .int(.max - 1)], [.string("1")])
        case .float:
            self.init(
                type,
                Self.reals,
                [.double(.infinity), .double(-.infinity), .double(Double(Float.greatestFiniteMagnitude)), .double(0.1), .double(-0.0)],
                [.double(.nan), .double(1e300)])
        case .double:
            self.init(
                type,
                Self.reals,
                [
                    .double(.infinity), .double(-.infinity), .double(.greatestFiniteMagnitude), .double(.leastNonzeroMagnitude),
                    .double(9_007_199_254_740_992), .double(-0.0), .double(0.1),
                ], [.double(.nan), .int(1)])
        case .decimal:
            self.init(
                type,
                ["0", "1", "-1", "0.1", "2.50", "-7.25", "100"].map(Self.decimal),
                [
                    "12345678901234567890123456789012345678", "-0.00000000000000000000000000000000000001",
                    "99999999999999999999999999999999999999e60",
                ]
                .map(Self.decimal), [.decimal(.nan)])
        case .string:
            self.init(
                type,
                ["", "a", "ab", "b", "B", "\u{e9}", "e\u{301}", "a b", "zz"].map(Value.string),
                ["%", "_", "a\\b", "\u{1f600}", "'\"", String(repeating: "long ", count: 180), "\u{feff}a", "a\n"].map(Value.string),
                [.string("a\u{0}b"), .int(1)])
        case .date:
            self.init(
                type,
                [.date(0), .date(1), .date(-1), .date(978_307_200_000_000), .date(1_700_000_000_123_456)],
                [.date(Microseconds.minimum), .date(Microseconds.maximum)], [.date(Microseconds.maximum + 1)])
        case .uuid: self.init(type, [Self.uuid(0), Self.uuid(1), Self.uuid(127), Self.uuid(128), Self.uuid(255)], [], [.string("")])
        case .data:
            self.init(
                type,
                [Data(), Data([0]), Data([0, 255]), Data([1, 2, 3]), Data([255])].map(Value.data), [.data(Data(repeating: 7, count: 900))],
                [.string("")])
        case .url:
            self.init(
                type, ["https://example.com/", "https://example.com/a?b=c", "file:///x", "urn:a:b"].map(Value.string), [], [.string("")])
        }
    }

    /// Returns the value of a type for a small number, a different one for each number where the type has as many.
    static func numbered(_ number: Int64, _ type: ValueType) -> Value {
        switch type {
        case .bool: .bool(number % 2 == 0)
        case .int16, .int32, .int64: .int(number)
        case .float, .double: .double(Double(number) / 4)
        case .decimal: .decimal(Decimal(number) / 10)
        case .string: .string("word \(number)")
        case .date: .date(number * 1_000_003)
        case .uuid: .uuid(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, UInt8(truncatingIfNeeded: number + 100))))
        case .data: .data(Data([0, 255, UInt8(truncatingIfNeeded: number + 100)]))
        case .url: .string("https://example.com/\(number)")
        }
    }

    /// Returns a value as Swift source code.
    static func source(_ value: Value) -> String {
        switch value {
        case .null: return ".null"
        case .bool(let flag): return ".bool(\(flag))"
        case .int(let number): return number == .min ? ".int(.min)" : ".int(\(number))"
        case .double(let number):
            if number.isNaN { return ".double(.nan)" }
            if number.isInfinite { return number > 0 ? ".double(.infinity)" : ".double(-.infinity)" }
            return ".double(\(number))"
        case .decimal(let number): return number.isNaN ? ".decimal(.nan)" : ".decimal(Decimal(string: \"\(number)\")!)"
        case .string(let text):
            let count = text.utf8.count / longPart.utf8.count
            if count > 1_000, text == String(repeating: longPart, count: count) {
                return ".string(String(repeating: \"\(longPart)\", count: \(count)))"
            }
            return ".string(\(ProgramText.quoted(text)))"
        case .date(let number): return ".date(\(number))"
        case .uuid(let id): return ".uuid(UUID(uuidString: \"\(id)\")!)"
        case .data(let data):
            if data.count > 16 { return ".data(Data(repeating: \(data[data.startIndex]), count: \(data.count)))" }
            return ".data(Data(\(Array(data))))"
        }
    }

    private init(_ type: ValueType, _ ordinary: [Value], _ extreme: [Value], _ refused: [Value]) {
        self.type = type
        self.ordinary = ordinary
        self.extreme = extreme
        self.refused = refused
    }

    private static let small: [Value] = [0, 1, -1, 2, 3, 7, -7, 100].map(Value.int)
    private static let reals: [Value] = [0, 1, -1, 0.5, 2.5, -2.5, 7, 1000].map(Value.double)

    private static func decimal(_ text: String) -> Value { .decimal(Decimal(string: text) ?? 0) }

    private static func uuid(_ byte: UInt8) -> Value { .uuid(UUID(uuid: (byte, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, byte))) }
}
