internal import PolystoreFoundation

/// Conversions of values to JSON, and from JSON and the texts of CSV and NDJSON files.
package enum ValueText {
    /// Returns the JSON of a value: numbers, strings, and Booleans unchanged, dates in ISO 8601, data in Base64, decimals and UUIDs as
    /// strings.
    package static func json(_ value: Value) -> JSONValue {
        switch value {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int(let value): .number(String(value))
        case .double(let value): value.isFinite ? .number(String(value)) : .string(value < 0 ? "-inf" : "inf")
        case .decimal(let value): .string(value.description)
        case .string(let value): .string(value)
        case .date(let value): .string(ISO8601.string(value))
        case .uuid(let value): .string(value.uuidString)
        case .data(let value): .string(value.base64EncodedString())
        }
    }

    /// Parses a text as a value of an attribute's type. Returns nil if the text has another form.
    package static func value(_ text: String, as type: ValueType) -> Value? {
        switch type {
        case .bool:
            switch text.lowercased() {
            case "true", "1", "yes", "t": .bool(true)
            case "false", "0", "no", "f": .bool(false)
            default: nil
            }
        case .int16, .int32, .int64: Int64(text).map(Value.int)
        case .float, .double: double(text).map(Value.double)
        case .decimal: decimal(text)
        case .string, .url: .string(text)
        case .date: ISO8601.microseconds(text).map(Value.date)
        case .uuid: UUID(uuidString: text).map(Value.uuid)
        case .data: Data(base64Encoded: text).map(Value.data)
        }
    }

    /// Converts a JSON value to a value of an attribute's type. Returns nil if it has another form.
    package static func value(_ json: JSONValue, as type: ValueType) -> Value? {
        switch json {
        case .null: .null
        case .bool(let value): type == .bool ? .bool(value) : nil
        case .number(let text): type.isNumeric ? value(text, as: type) : nil
        case .string(let text): type.isInteger || type == .bool ? nil : value(text, as: type)
        case .array, .object: nil
        }
    }

    /// Parses a number, which is infinite only if the text says so. Hexadecimal numbers, which Swift would accept, are refused because data
    /// files do not contain them.
    private static func double(_ text: String) -> Double? {
        guard let number = Double(text), !text.utf8.contains(where: { $0 == 0x78 || $0 == 0x58 }) else { return nil }
        return number.isInfinite && text.utf8.contains { $0 >= 0x30 && $0 <= 0x39 } ? nil : number
    }

    /// Parses digits with an optional sign, point, and exponent. Foundation would ignore characters that it does not understand, and would
    /// round numbers that it cannot represent.
    private static func decimal(_ text: String) -> Value? {
        var rest = Substring(text)[...], digits: [UInt8] = [], exponent = 0
        let isNegative = rest.first == "-"
        if isNegative || rest.first == "+" { rest.removeFirst() }
        func take() -> Int {
            let taken = rest.utf8.prefix { $0 >= 0x30 && $0 <= 0x39 }
            digits += taken.map { $0 - 0x30 }
            rest = rest[taken.endIndex...]
            return taken.count
        }
        var count = take()
        if rest.first == "." {
            rest.removeFirst()
            let fraction = take()
            count += fraction
            exponent -= fraction
        }
        guard count > 0 else { return nil }
        if let mark = rest.first, mark == "e" || mark == "E" {
            guard let power = Int(rest.dropFirst()), (-10_000...10_000).contains(power) else { return nil }
            exponent += power
            rest = ""
        }
        guard rest.isEmpty else { return nil }
        digits.removeFirst(digits.prefix { $0 == 0 }.count)
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        guard digits.count <= DecimalKey.maximumDigits else { return nil }
        let mantissa = digits.reduce(UInt128(0)) { $0 * 10 + UInt128($1) }
        return DecimalDigits.decimal(mantissa, exponent, isNegative: isNegative).map(Value.decimal)
    }
}
