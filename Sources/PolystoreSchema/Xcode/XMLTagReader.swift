/// An XML reader for small files: elements, attributes, and text, with line numbers.
///
/// It supports only the five predefined entities of XML, reads no other file, and refuses declarations inside the document type, so that
/// reading cannot expand a text. It uses an explicit stack instead of recursion.
struct XMLTagReader {
    private static let deepest = 50
    private static let mostTags = 100_000

    private let bytes: [UInt8]
    private var offset = 0
    private var line = 1
    private var tags = 0
    private var open: [XMLTag] = []
    private var root: XMLTag?

    private init(_ text: String) { bytes = Array(text.utf8) }

    /// Returns the outermost element of a text.
    ///
    /// - Throws: `SchemaError` with the line and a message that states what was expected.
    static func tag(_ text: String) throws(SchemaError) -> XMLTag {
        var reader = XMLTagReader(text)
        try reader.read()
        if let tag = reader.open.last { throw reader.error("<\(tag.name)> of line \(tag.line) is not closed") }
        guard let root = reader.root else { throw reader.error("a root element is expected") }
        return root
    }

    private func error(_ message: String) -> SchemaError { SchemaError("", message, line: line) }

    private mutating func read() throws(SchemaError) {
        if starts("\u{feff}") { offset += 3 }
        while offset < bytes.count {
            if bytes[offset] != UInt8(ascii: "<") {
                try text()
            } else if starts("<?") {
                _ = try take("<?", to: "?>")
            } else if starts("<!--") {
                _ = try take("<!--", to: "-->")
            } else if starts("<![CDATA[") {
                try verbatim()
            } else if starts("<!") {
                try documentType()
            } else if starts("</") {
                try close()
            } else {
                try openTag()
            }
        }
    }

    // MARK: Scanning

    private func starts(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { offset + $0.count <= bytes.count && bytes[offset..<(offset + $0.count)].elementsEqual($0) }
    }

    private mutating func advance(to end: Int) {
        while offset < end {
            if bytes[offset] == 0x0a { line += 1 }
            offset += 1
        }
    }

    private mutating func skipSpace() {
        while offset < bytes.count, Self.isSpace(bytes[offset]) { advance(to: offset + 1) }
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d }

    /// Returns the text between two delimiters. The second one is searched for after the first one.
    private mutating func take(_ start: StaticString, to end: StaticString) throws(SchemaError) -> ArraySlice<UInt8> {
        let first = line
        advance(to: offset + start.utf8CodeUnitCount)
        let from = offset
        while offset < bytes.count {
            if starts(end) {
                let taken = bytes[from..<offset]
                advance(to: offset + end.utf8CodeUnitCount)
                return taken
            }
            advance(to: offset + 1)
        }
        throw SchemaError("", "\"\(start)\" is not closed", line: first)
    }

    // MARK: Markup

    /// Skips a document type. It may name a file, which is not read; a document type that contains declarations is refused.
    private mutating func documentType() throws(SchemaError) {
        guard starts("<!DOCTYPE"), open.isEmpty, root == nil else { throw error("\"<!\" is not allowed here") }
        var quote: UInt8?
        while offset < bytes.count {
            let byte = bytes[offset]
            if byte == UInt8(ascii: "["), quote == nil { throw error("a document type with declarations is not supported") }
            if byte == UInt8(ascii: ">"), quote == nil { return advance(to: offset + 1) }
            if byte == quote {
                quote = nil
            } else if quote == nil, byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                quote = byte
            }
            advance(to: offset + 1)
        }
        throw error("the document type is not closed")
    }

    private mutating func openTag() throws(SchemaError) {
        let start = line
        advance(to: offset + 1)
        var tag = XMLTag(name: try name(), line: start)
        if open.isEmpty, root != nil { throw error("<\(tag.name)> is a second root element") }
        if open.count >= Self.deepest { throw error("at most \(Self.deepest) levels of elements are allowed") }
        tags += 1
        if tags > Self.mostTags { throw error("at most \(Self.mostTags) elements are allowed") }
        while true {
            let before = offset
            skipSpace()
            if starts("/>") {
                advance(to: offset + 2)
                return finish(tag)
            }
            if starts(">") {
                advance(to: offset + 1)
                return open.append(tag)
            }
            if offset == before { throw error("a space, \">\" or \"/>\" is expected in <\(tag.name)>") }
            let name = try name()
            let value = try attribute(name)
            if tag.attributes.updateValue(value, forKey: name) != nil { throw error("\"\(name)\" appears twice in <\(tag.name)>") }
        }
    }

    private mutating func close() throws(SchemaError) {
        advance(to: offset + 2)
        let name = try name()
        skipSpace()
        guard starts(">") else { throw error("\">\" is expected") }
        guard let tag = open.popLast(), tag.name == name else { throw error("</\(name)> does not match an open element") }
        advance(to: offset + 1)
        finish(tag)
    }

    private mutating func finish(_ tag: XMLTag) {
        if open.isEmpty { root = tag } else { open[open.count - 1].children.append(tag) }
    }

    private mutating func name() throws(SchemaError) -> String {
        let start = offset
        while offset < bytes.count, Self.isNamePart(bytes[offset]) { offset += 1 }
        let length = offset - start
        guard length > 0, length <= 250, !(0x2d...0x39).contains(bytes[start]) else { throw error("a name is expected") }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    /// Returns whether a byte can be part of a name: letters, digits, `-`, `.`, `:`, `_`, and all bytes beyond ASCII.
    private static func isNamePart(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x80...0xff, 0x2d, 0x2e, 0x3a, 0x5f: true
        default: false
        }
    }

    // MARK: Text

    private mutating func attribute(_ name: String) throws(SchemaError) -> String {
        skipSpace()
        guard starts("=") else { throw error("\"=\" is expected after \"\(name)\"") }
        advance(to: offset + 1)
        skipSpace()
        let taken: ArraySlice<UInt8>
        if starts("\"") {
            taken = try take("\"", to: "\"")
        } else if starts("'") {
            taken = try take("'", to: "'")
        } else {
            throw error("a value in quotes is expected for \"\(name)\"")
        }
        if taken.contains(UInt8(ascii: "<")) { throw error("\"<\" must be written as &lt; in \"\(name)\"") }
        return try decoded(taken.map { Self.isSpace($0) ? 0x20 : $0 }[...])
    }

    private mutating func text() throws(SchemaError) {
        let start = offset
        let end = bytes[start...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
        let taken = bytes[start..<end]
        if open.isEmpty {
            skipSpace()
            if offset < end { throw error("text is not allowed outside of the root element") }
            return
        }
        let text = try decoded(taken)
        open[open.count - 1].text += text
        advance(to: end)
    }

    private mutating func verbatim() throws(SchemaError) {
        if open.isEmpty { throw error("text is not allowed outside of the root element") }
        open[open.count - 1].text += String(decoding: try take("<![CDATA[", to: "]]>"), as: UTF8.self)
    }

    /// Returns the text with `&…;` replaced by the characters that it denotes.
    private func decoded(_ taken: ArraySlice<UInt8>) throws(SchemaError) -> String {
        guard taken.contains(UInt8(ascii: "&")) else { return String(decoding: taken, as: UTF8.self) }
        var result: [UInt8] = []
        var place = taken.startIndex
        while place < taken.endIndex {
            guard taken[place] == UInt8(ascii: "&") else {
                result.append(taken[place])
                place += 1
                continue
            }
            guard let end = taken[place...].prefix(12).firstIndex(of: UInt8(ascii: ";")) else {
                throw error("\"&\" must be written as &amp;")
            }
            result += try String(scalar(String(decoding: taken[(place + 1)..<end], as: UTF8.self))).utf8
            place = end + 1
        }
        return String(decoding: result, as: UTF8.self)
    }

    private func scalar(_ name: String) throws(SchemaError) -> Unicode.Scalar {
        switch name {
        case "lt": return "<"
        case "gt": return ">"
        case "amp": return "&"
        case "quot": return "\""
        case "apos": return "'"
        default:
            let isHexadecimal = name.hasPrefix("#x")
            let digits = name.dropFirst(isHexadecimal ? 2 : 1)
            guard name.hasPrefix("#"), digits.first != "+", let code = UInt32(digits, radix: isHexadecimal ? 16 : 10), code > 0,
                let scalar = Unicode.Scalar(code)
            else { throw error("\"&\(name.excerpt());\" is not a known character entity") }
            return scalar
        }
    }
}
