/// Names and literals as Swift writes them.
enum Names {
    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout", "internal", "let",
        "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static", "struct", "subscript", "typealias",
        "var", "break", "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough", "for", "guard", "if", "in", "repeat",
        "return", "throw", "switch", "where", "while", "as", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try", "_",
    ]

    /// Words that mean something only where an expression begins.
    private static let contextual: Set<String> = [
        "Any", "Protocol", "Type", "await", "any", "async", "borrowing", "consume", "consuming", "copy", "discard", "each", "isolated",
        "nonisolated", "sending", "some", "then", "unsafe", "yield",
    ]

    /// What every object or snapshot has by these names, and an own property cannot.
    static let usedMembers: Set<String> = [
        "Self", "Snapshot", "Type", "declaration", "entityName", "hasChanges", "hash", "hashValue", "isDeleted", "objectID", "self",
        "version",
    ]

    /// A name, in back quotes where it is a keyword.
    static func swift(_ name: String) -> String { keywords.contains(name) || contextual.contains(name) ? "`\(name)`" : name }

    /// The name of the storage behind a property: two underscores, because the members of the base class begin with one.
    static func storage(_ name: String) -> String { "__\(name.replacing("`", with: ""))" }

    /// A text as a literal.
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
