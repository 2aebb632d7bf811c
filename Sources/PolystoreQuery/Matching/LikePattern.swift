internal import PolystoreSchema

/// A pattern of `like`: literals, `*` for any run of characters, `?` for one scalar.
package struct LikePattern: Sendable, Hashable {
    /// One part of a pattern.
    package enum Part: Sendable, Hashable {
        /// Characters that represent themselves.
        case literal(String)
        /// Any run of characters, including an empty one.
        case anyRun
        /// One Unicode scalar.
        case anyScalar
    }

    /// The parts. Two literals or two runs are never adjacent.
    package let parts: [Part]

    /// Creates the pattern of a text. `\` makes the next character represent itself, also at the end.
    package init(_ text: String) {
        var parts: [Part] = [], literal = String.UnicodeScalarView(), isEscaped = false
        func flush() {
            if !literal.isEmpty { parts.append(.literal(String(literal))) }
            literal = String.UnicodeScalarView()
        }
        for scalar in text.unicodeScalars {
            if isEscaped {
                literal.append(scalar)
                isEscaped = false
                continue
            }
            switch scalar {
            case "\\": isEscaped = true
            case "*":
                flush()
                if parts.last != .anyRun { parts.append(.anyRun) }
            case "?":
                flush()
                parts.append(.anyScalar)
            default: literal.append(scalar)
            }
        }
        if isEscaped { literal.append("\\") }
        flush()
        self.parts = parts
    }
}
