package import PolystoreStorage

/// SQL as text and bindings. Values are never part of the text.
package struct SQLText: Sendable, Hashable, ExpressibleByStringInterpolation {
    enum Segment: Sendable, Hashable {
        case text(String)
        case binding(SQLBinding)
    }

    private(set) var segments: [Segment]

    /// Creates plain text.
    package init(stringLiteral value: String) { segments = [.text(value)] }

    /// Creates text with bindings.
    package init(stringInterpolation: StringInterpolation) { segments = stringInterpolation.segments }

    /// A collector of the parts of an interpolated statement.
    package struct StringInterpolation: StringInterpolationProtocol {
        var segments: [Segment] = []

        /// Creates an empty collector.
        package init(literalCapacity: Int, interpolationCount: Int) {}

        /// Appends plain text.
        package mutating func appendLiteral(_ literal: String) { if !literal.isEmpty { segments.append(.text(literal)) } }

        /// Appends a quoted name.
        package mutating func appendInterpolation(identifier name: String) { segments.append(.text(SQLText.quoted(name))) }

        /// Appends text that is already SQL.
        package mutating func appendInterpolation(raw text: String) { segments.append(.text(text)) }

        /// Appends the text and the bindings of another statement.
        package mutating func appendInterpolation(_ other: SQLText) { segments += other.segments }

        /// Appends a value as a binding.
        package mutating func appendInterpolation(bind value: Value, _ type: ValueType) {
            segments.append(.binding(.value(value, type)))
        }

        /// Appends a list of values as one binding.
        package mutating func appendInterpolation(list values: [Value], _ type: ValueType) {
            segments.append(.binding(.list(values, type)))
        }
    }

    /// Returns a name as a quoted SQL identifier.
    package static func quoted(_ name: String) -> String {
        // Few names contain a quote.
        name.utf8.contains(0x22) ? "\"" + doubling("\"", in: name) + "\"" : "\"\(name)\""
    }

    /// Returns a text with each occurrence of a scalar doubled. It works on scalars, because a combining mark after a quote would hide the
    /// quote within a Character.
    package static func doubling(_ scalar: Unicode.Scalar, in text: String) -> String {
        var result = String.UnicodeScalarView()
        for next in text.unicodeScalars {
            result.append(next)
            if next == scalar { result.append(next) }
        }
        return String(result)
    }

    /// Appends another text.
    package static func += (a: inout SQLText, b: SQLText) { a.segments += b.segments }

    /// Returns texts joined by a separator.
    package static func joined(_ parts: [SQLText], _ separator: String) -> SQLText {
        var result: SQLText = ""
        for (index, part) in parts.enumerated() {
            if index > 0 { result.segments.append(.text(separator)) }
            result += part
        }
        return result
    }

    /// Returns the statement with other bindings.
    func mapBindings(_ change: (SQLBinding) -> SQLBinding) -> SQLText {
        var text = self
        text.segments = segments.map { segment in if case .binding(let binding) = segment { .binding(change(binding)) } else { segment } }
        return text
    }

    /// Returns the statement in a dialect and its bindings in the order of the placeholders.
    package func rendered(_ dialect: SQLDialect) -> (sql: String, bindings: [SQLBinding]) {
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
