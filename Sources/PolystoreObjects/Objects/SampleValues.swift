internal import PolystoreFoundation
internal import PolystoreStorage

/// Values of each attribute type that tell a computed property from the attribute: one that limits, rounds, shortens or rewrites a value
/// differs from it for one of them.
///
/// The most common values come first and the extreme ones last, because a computed property may end the process for a value that the program
/// never has. The probe ends at the first difference.
enum SampleValues {
    /// Returns the values of a type.
    ///
    /// - Parameter isCoded: Whether the values are the JSON of a list or of another coded type.
    static func of(_ type: ValueType, isCoded: Bool) -> [Value] {
        switch type {
        case .bool: [.bool(true), .bool(false)]
        case .int16: int16
        case .int32: int32
        case .int64: int64
        case .float: floats
        case .double: doubles
        case .decimal: decimals
        case .string: texts
        case .date: dates
        case .uuid: uuids
        case .url: urls
        case .data: isCoded ? coded : data
        }
    }

    private static let int16: [Value] = integers([1, 2, 3, 7, 12, 99, 101, 1000, 0, -1, -12, 20_000, -20_000, 32_000, -32_000])
    private static let int32: [Value] = int16 + integers([1_000_000_007, -1_000_000_007, 2_000_000_011, -2_000_000_011])
    /// Includes integers that a double cannot represent.
    private static let int64: [Value] =
        int32
        + integers([9_007_199_254_740_993, -9_007_199_254_740_993, 9_000_000_000_000_000_001, -9_000_000_000_000_000_001])

    private static func integers(_ numbers: [Int64]) -> [Value] { numbers.map { .int($0) } }

    private static let floats: [Value] = [1, 0.5, 2.25, 100.75, 0, -1.5, 123_456.79, -123_456.79, 1e-9, 1e30, -1e30].map { .double($0) }
    private static let doubles: [Value] =
        floats + [123_456.789012345678, -123_456.789012345678, 1e12 + 0.25, -1e12 - 0.25, 1e300, -1e300].map { .double($0) }
    private static let decimals: [Value] = [
        "1", "0.5", "2.255", "100.75", "0", "-1.5", "123456.789012345678", "-123456.789012345678",
        "98765432109876543210.012345678901234567", "-98765432109876543210.012345678901234567", "0.00000000000000000000000000000000000001",
        "99999999999999999999999999999999999999", "-99999999999999999999999999999999999999",
    ].compactMap { Decimal(string: $0).map(Value.decimal) }

    private static let texts: [Value] =
        ["ab", "Ab Cd", " é x ", "a", "", String(repeating: "Long, longer. ", count: 10), "7", longText].map { .string($0) } + references

    /// Some thousand different characters, among them upper and lower case and combining marks, with blanks at both ends.
    private static let longText: String = {
        let scalars = String.UnicodeScalarView((0x21..<0xd00).compactMap(Unicode.Scalar.init))
        return " \t Àe\u{301}ßİ\r\n\u{1F468}\u{200D}\u{1F469}" + String(scalars) + "\u{10FFFF} \n "
    }()

    /// The texts of identities, which are the only values of references.
    private static let references = [1, 2].map { Value.string(ObjectKey(store: .placeholder, root: "Root", key: $0).description) }

    /// Includes times some 200 years before and after 1970, with fractions of seconds.
    private static let dates: [Value] = [
        86_400_000_001, 1_700_000_000_123_456, 981_173_106_000_000, 0, -1, 6_311_520_000_123_456, -6_311_520_000_123_456,
    ].map { .date($0) }

    private static let uuids: [Value] = [1, 2, 0, 255].map { byte in
        .uuid(UUID(uuid: (byte, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, byte)))
    }

    private static let urls: [Value] = [
        "https://example.com/a/B?c=d#e", "file:///x/y.txt", "a:b",
        "HTTPS://Ann:x@Example.COM:8080/a/../%7Eb/" + String(repeating: "Long/", count: 600) + "?c=%20D&c=#e",
    ].map { .string($0) }

    private static let data: [Value] = [[3, 1, 2], [255], [], (0..<5000).map { UInt8(truncatingIfNeeded: $0) }].map { .data(Data($0)) }

    private static let coded: [Value] =
        [
            "[3,1,2]", "[\"b\",\"A\",\"b\"]", "[true,false]", "[]", "{}", "7", "\"b\"", "[0.5,-1]", "{\"b\":1}", list { "\($0)" },
            list { "\"\($0) Äé \"" }, list { $0.isMultiple(of: 3) ? "true" : "false" }, list { "\($0).0625" }, "[20000,-20000]",
            "[1000000007,-1000000007]", "[123456.789012345678]", "[\"\(String(repeating: "Long, longer. ", count: 200))\"]",
        ].map { .data(Data($0.utf8)) }

    /// Returns the JSON of a long list.
    private static func list(_ element: (Int) -> String) -> String { "[\((0..<500).map(element).joined(separator: ","))]" }
}
