/// Texts that are nearly right: the bytes of seeds with parts changed, lost, repeated and put in, always the same for the same seeds.
struct Mutations {
    private static let pieces: [[UInt8]] =
        [
            "(", ")", "[", "]", "{", "}", "\"", "'", "\\", "\\u", "\\ud800", "<", ">", "</", "&", "&#x110000;", "%", "%00", "%s", "@", "$x",
            "#",
            ":", ",", ";", "=", "-", "--", "+", "/", "//", "?", "..", "\r", "\n", "\r\n", "\u{0}", "\u{1b}", "\u{202e}", "\u{feff}",
            "e\u{301}",
            "1e400", "-1e400", "1e-400", "1e-9223372036854775808", "1e9223372036854775807", "9223372036854775807", "9223372036854775808",
            "-9223372036854775808", "-9223372036854775809", "18446744073709551616", "0x", "0xFFFFFFFFFFFFFFFFF", "NaN", "inf", "-0.0", "00",
            "null", "NIL", "true", "NOT ", " OR ", "ANY ", "SUBQUERY(", "9999-12-31T23:59:59.9999999Z", "0000-00-00", "NA",
        ].map { Array($0.utf8) } + [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82]]

    /// SplitMix64 (Steele, Lea and Flood 2014).
    private var state: UInt64
    private let seeds: [[UInt8]]

    init(_ seeds: [String], number: UInt64 = 1) {
        self.seeds = seeds.map { Array($0.utf8) }
        state = number
    }

    private mutating func below(_ limit: Int) -> Int {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ (value >> 30)) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ (value >> 27)) &* 0x94d0_49bb_1331_11eb
        return limit < 1 ? 0 : Int((value ^ (value >> 31)) % UInt64(limit))
    }

    mutating func bytes() -> [UInt8] {
        var bytes = seeds[below(seeds.count)]
        for _ in 0...below(4) {
            let start = below(bytes.count + 1), end = min(bytes.count, start + 1 + below(12))
            switch below(6) {
            case 0: bytes.replaceSubrange(start..<end, with: Self.pieces[below(Self.pieces.count)])
            case 1: bytes.insert(contentsOf: Self.pieces[below(Self.pieces.count)], at: start)
            case 2: bytes.removeSubrange(start..<end)
            case 3: bytes.insert(contentsOf: [[UInt8]](repeating: Array(bytes[start..<end]), count: 1 + below(300)).joined(), at: end)
            case 4: if start < bytes.count { bytes[start] = UInt8(below(256)) }
            default: bytes.removeLast(below(bytes.count))
            }
        }
        return bytes
    }

    mutating func text() -> String { String(decoding: bytes(), as: UTF8.self) }

    /// Texts of a size that only somebody who means harm writes.
    static let large: [String] = [
        String(repeating: "(", count: 1_000_000), String(repeating: "[", count: 200_000), String(repeating: "{\"a\":", count: 200_000),
        String(repeating: "<a>", count: 100_000), String(repeating: "\"", count: 100_001), String(repeating: "9", count: 100_000),
        "\"" + String(repeating: "x", count: 100_000) + "\"", "{\"" + String(repeating: "k", count: 100_000) + "\": 1}",
        String(repeating: "a", count: 100_000), String(repeating: "a.", count: 100_000) + "b == 1", String(repeating: "%", count: 100_000),
        String(repeating: "-", count: 100_000) + "1", String(repeating: ",", count: 100_000), String(repeating: "\u{0}", count: 100_000),
        "e" + String(repeating: "\u{301}", count: 100_000), String(repeating: "a+", count: 100_000) + "a == 1",
        "sqlite:" + String(repeating: "a", count: 100_000) + "?" + String(repeating: "b&", count: 100_000),
        "a MATCHES '" + String(repeating: "*", count: 100_000), "x" + String(repeating: "*", count: 200_000),
    ]
}
