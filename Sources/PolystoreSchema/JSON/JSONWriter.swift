/// Writes JSON text, either in canonical form (without spaces) or indented for readers.
package struct JSONWriter {
    private let isPretty: Bool
    private var text = ""

    private init(isPretty: Bool) { self.isPretty = isPretty }

    /// Returns the text of a value. Members keep their order.
    package static func write(_ value: JSONValue, pretty: Bool = false) -> String {
        var writer = JSONWriter(isPretty: pretty)
        writer.write(value, 0)
        return writer.text
    }

    /// Returns a string in quotes, with escapes.
    package static func quoted(_ string: String) -> String {
        var result = "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{0}"..."\u{1f}":
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }

    private mutating func write(_ value: JSONValue, _ depth: Int) {
        switch value {
        case .null: text += "null"
        case .bool(let value): text += value ? "true" : "false"
        case .number(let value): text += value
        case .string(let value): text += Self.quoted(value)
        case .array(let items):
            let isFlat = items.allSatisfy { if case .string = $0.value { true } else { false } }
            list("[", "]", items.count, depth, isFlat: isFlat) { writer, index in writer.write(items[index].value, depth + 1) }
        case .object(let members):
            let isFlat = depth >= 3
            list("{", "}", members.count, depth, isFlat: isFlat) { writer, index in
                writer.text += Self.quoted(members[index].name) + (writer.isPretty ? ": " : ":")
                writer.write(members[index].node.value, depth + 1)
            }
        }
    }

    private mutating func list(
        _ open: String, _ close: String, _ count: Int, _ depth: Int, isFlat: Bool, _ item: (inout JSONWriter, Int) -> Void
    ) {
        text += open
        for index in 0..<count {
            if index > 0 { text += "," }
            if isPretty { text += isFlat ? (index > 0 ? " " : "") : "\n" + String(repeating: "  ", count: depth + 1) }
            item(&self, index)
        }
        if isPretty, !isFlat, count > 0 { text += "\n" + String(repeating: "  ", count: depth) }
        text += close
    }
}
