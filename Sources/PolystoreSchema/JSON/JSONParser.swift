/// A JSON parser (RFC 8259) that records lines, refuses duplicate names, and keeps numbers as text.
package struct JSONParser {
    private static let deepest = 200

    private let bytes: [UInt8]
    private var offset = 0
    private var line = 1
    private var lineStart = 0
    private var depth = 0

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// Parses a JSON document.
    ///
    /// - Throws: `JSONError` with the line, the column, and a message that states what was expected.
    package static func parse(_ text: String) throws(JSONError) -> JSONNode {
        var parser = JSONParser(text)
        let node = try parser.value()
        parser.skipSpace()
        if parser.offset < parser.bytes.count { throw parser.error("the end of the document is expected") }
        return node
    }

    private func error(_ message: String) -> JSONError { JSONError(line: line, column: offset - lineStart + 1, message: message) }

    private var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipSpace() {
        while let byte = current, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d {
            offset += 1
            if byte == 0x0a {
                line += 1
                lineStart = offset
            }
        }
    }

    private mutating func take(_ byte: Character) -> Bool {
        guard current == byte.asciiValue else { return false }
        offset += 1
        return true
    }

    private mutating func value() throws(JSONError) -> JSONNode {
        skipSpace()
        let start = line
        depth += 1
        defer { depth -= 1 }
        if depth > Self.deepest { throw error("at most \(Self.deepest) levels of nesting are allowed") }
        switch current {
        case UInt8(ascii: "{"): return JSONNode(try object(), line: start)
        case UInt8(ascii: "["): return JSONNode(try array(), line: start)
        case UInt8(ascii: "\""): return JSONNode(.string(try string()), line: start)
        case UInt8(ascii: "t"): return JSONNode(try word("true", .bool(true)), line: start)
        case UInt8(ascii: "f"): return JSONNode(try word("false", .bool(false)), line: start)
        case UInt8(ascii: "n"): return JSONNode(try word("null", .null), line: start)
        case .some: return JSONNode(.number(try number()), line: start)
        case nil: throw error("a value is expected")
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
        guard bytes[offset...].starts(with: word.utf8) else { throw error("a value is expected") }
        offset += word.utf8.count
        return value
    }

    private mutating func object() throws(JSONError) -> JSONValue {
        offset += 1
        var members: [JSONMember] = [], names: Set<String> = []
        skipSpace()
        if take("}") { return .object([]) }
        while true {
            skipSpace()
            guard current == UInt8(ascii: "\"") else { throw error("a name in quotes is expected") }
            let start = line
            let name = try string()
            if !names.insert(name).inserted { throw error("\"\(name.excerpt())\" appears twice") }
            skipSpace()
            guard take(":") else { throw error("\":\" is expected") }
            members.append(JSONMember(name: name, node: try value(), line: start))
            skipSpace()
            if take(",") { continue }
            guard take("}") else { throw error("\",\" or \"}\" is expected") }
            return .object(members)
        }
    }

    private mutating func array() throws(JSONError) -> JSONValue {
        offset += 1
        var items: [JSONNode] = []
        skipSpace()
        if take("]") { return .array([]) }
        while true {
            items.append(try value())
            skipSpace()
            if take(",") { continue }
            guard take("]") else { throw error("\",\" or \"]\" is expected") }
            return .array(items)
        }
    }

    private mutating func number() throws(JSONError) -> String {
        let start = offset
        _ = take("-")
        let whole = digits()
        if whole == 0 || (whole > 1 && bytes[offset - whole] == UInt8(ascii: "0")) { throw error("a value is expected") }
        if take("."), digits() == 0 { throw error("a digit is expected") }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            if digits() == 0 { throw error("a digit is expected") }
        }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private mutating func digits() -> Int {
        let start = offset
        while let byte = current, byte >= 0x30, byte <= 0x39 { offset += 1 }
        return offset - start
    }

    private mutating func string() throws(JSONError) -> String {
        offset += 1
        var result: [UInt8] = []
        while let byte = current {
            if byte == UInt8(ascii: "\"") {
                offset += 1
                guard let text = result.withUnsafeBytes(String.init(utf8:)) else { throw error("the string is not valid UTF-8") }
                return text
            }
            if byte < 0x20 { throw error("control characters in a string must be escaped") }
            offset += 1
            if byte == UInt8(ascii: "\\") {
                result += String(try escape()).utf8
            } else {
                result.append(byte)
            }
        }
        throw error("the string is not terminated")
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        guard let byte = current else { throw error("the string is not terminated") }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{c}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let first = try hex()
            if let scalar = Unicode.Scalar(first) { return scalar }
            guard first < 0xdc00, take("\\"), take("u") else { throw error("an unpaired surrogate is not allowed") }
            let second = try hex()
            guard second >= 0xdc00, second < 0xe000, let scalar = Unicode.Scalar(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
            else {
                throw error("an unpaired surrogate is not allowed")
            }
            return scalar
        default: throw error("the escape sequence is not known")
        }
    }

    private mutating func hex() throws(JSONError) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else {
                throw error("four hexadecimal digits are expected")
            }
            code = code << 4 | UInt32(digit)
            offset += 1
        }
        return code
    }
}
