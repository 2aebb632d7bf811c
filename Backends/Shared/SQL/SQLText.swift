public import PolystoreStorage

/// One value that a statement is run with.
public enum SQLBinding: Sendable, Hashable {
    /// A value of a type.
    case value(Value, ValueType)
    /// Many values of a type, none of them nil, as one list.
    case list([Value], ValueType)
}

/// SQL as text and bindings: a value is never part of the text.
public struct SQLText: Sendable, Hashable, ExpressibleByStringInterpolation {
    enum Segment: Sendable, Hashable {
        case text(String)
        case binding(SQLBinding)
    }

    private(set) var segments: [Segment]

    /// Plain text.
    public init(stringLiteral value: String) { segments = [.text(value)] }

    /// Text with bindings.
    public init(stringInterpolation: StringInterpolation) { segments = stringInterpolation.segments }

    /// Collects the parts of an interpolated statement.
    public struct StringInterpolation: StringInterpolationProtocol {
        var segments: [Segment] = []

        /// No parts.
        public init(literalCapacity: Int, interpolationCount: Int) {}

        /// Plain text.
        public mutating func appendLiteral(_ literal: String) { if !literal.isEmpty { segments.append(.text(literal)) } }

        /// A name, quoted.
        public mutating func appendInterpolation(identifier name: String) { segments.append(.text(SQLText.quoted(name))) }

        /// Text that is already SQL.
        public mutating func appendInterpolation(raw text: String) { segments.append(.text(text)) }

        /// Another statement's text and bindings.
        public mutating func appendInterpolation(_ other: SQLText) { segments += other.segments }

        /// A value.
        public mutating func appendInterpolation(bind value: Value, _ type: ValueType) {
            segments.append(.binding(.value(value, type)))
        }

        /// A list of values.
        public mutating func appendInterpolation(list values: [Value], _ type: ValueType) {
            segments.append(.binding(.list(values, type)))
        }
    }

    /// A name as SQL writes it.
    public static func quoted(_ name: String) -> String {
        // Nearly no name has a quote.
        name.utf8.contains(0x22) ? "\"" + doubling("\"", in: name) + "\"" : "\"\(name)\""
    }

    /// A text with each of a scalar written twice. By scalars: a mark that combines with a quote would hide it in a Character.
    public static func doubling(_ scalar: Unicode.Scalar, in text: String) -> String {
        var result = String.UnicodeScalarView()
        for next in text.unicodeScalars {
            result.append(next)
            if next == scalar { result.append(next) }
        }
        return String(result)
    }

    /// Adds another text.
    public static func += (a: inout SQLText, b: SQLText) { a.segments += b.segments }

    /// Texts with a separator between them.
    public static func joined(_ parts: [SQLText], _ separator: String) -> SQLText {
        var result: SQLText = ""
        for (index, part) in parts.enumerated() {
            if index > 0 { result.segments.append(.text(separator)) }
            result += part
        }
        return result
    }

    /// The statement of a dialect and its bindings in the order of the placeholders.
    public func rendered(_ dialect: SQLDialect) -> (sql: String, bindings: [SQLBinding]) {
        var sql = "", bindings: [SQLBinding] = []
        for segment in segments {
            switch segment {
            case .text(let text): sql += text
            case .binding(let binding):
                bindings.append(binding)
                sql += dialect.placeholder(bindings.count, binding)
            }
        }
        return (sql, bindings)
    }
}
