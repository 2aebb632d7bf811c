/// Converts names and texts to Swift source text.
enum Names {
    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout", "internal", "let",
        "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static", "struct", "subscript", "typealias",
        "var", "break", "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough", "for", "guard", "if", "in", "repeat",
        "return", "throw", "switch", "where", "while", "as", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try", "_",
    ]

    /// Words that are keywords only at the beginning of an expression.
    private static let contextual: Set<String> = [
        "Any", "Protocol", "Type", "await", "any", "async", "borrowing", "consume", "consuming", "copy", "discard", "each", "isolated",
        "nonisolated", "sending", "some", "then", "unsafe", "yield",
    ]

    /// Names of members of every object or snapshot, which a declared property cannot have.
    static let usedMembers: Set<String> = [
        "Self", "Snapshot", "Type", "debugDescription", "declaration", "entityName", "hasChanges", "hash", "hashValue", "isDeleted",
        "loadError", "objectID", "self", "version",
    ]

    /// Returns a name, in backticks if it is a keyword.
    static func swift(_ name: String) -> String { keywords.contains(name) || contextual.contains(name) ? "`\(name)`" : name }

    /// Returns the name of the storage of a property. It begins with two underscores, because members of the base class begin with one.
    static func storage(_ name: String) -> String { "__\(name.replacing("`", with: ""))" }

    /// Returns a text as a string literal.
    static func literal(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": result += "\\\(scalar)"
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case "\u{0}"..."\u{1f}": result += "\\u{\(String(scalar.value, radix: 16))}"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
