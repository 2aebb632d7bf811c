/// Names and literals as Swift writes them.
enum Names {
    private static let keywords: Set<String> = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout", "internal", "let",
        "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static", "struct", "subscript", "typealias",
        "var", "break", "case", "catch", "continue", "default", "defer", "do", "else", "fallthrough", "for", "guard", "if", "in", "repeat",
        "return", "throw", "switch", "where", "while", "as", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try",
    ]

    /// What generated files use by these names: a class of the same name would hide it.
    private static let usedTypes: Set<String> = [
        "Any", "AnyObject", "Array", "Attribute", "AttributeRules", "Bool", "Cell", "CrossReference", "Data", "Date", "Decimal",
        "DeleteRule", "Double", "Entity",
        "EntityIndex", "Float", "Foundation", "Index", "Int", "Int16", "Int32", "Int64", "KeyPath", "ManagedObject", "Microseconds",
        "ObjectContext", "ObjectID", "Optional", "Polystore", "Protocol", "Relationship", "RowBatch", "RowView", "Self", "Sendable", "Set",
        "Snapshot", "String", "Swift", "Type", "UInt64", "URL", "UUID", "UniqueConstraint", "UnsafeMutablePointer", "Value",
    ]

    /// What every object or snapshot has by these names, and an own property cannot.
    static let usedMembers: Set<String> = [
        "declaration", "entityName", "hasChanges", "hash", "hashValue", "isDeleted", "objectID", "self", "Type", "version",
    ]

    /// A name, in back quotes where it is a keyword.
    static func swift(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// The name of the storage behind a property: two underscores, because the members of the base class begin with one.
    static func storage(_ name: String) -> String { "__\(name.replacing("`", with: ""))" }

    /// The class of an entity: its name, with `Entity` behind it where the name is taken.
    static func type(_ entity: String, among entities: Set<String>) -> String {
        guard usedTypes.contains(entity) else { return entity }
        var name = entity + "Entity"
        while entities.contains(name) { name += "_" }
        return name
    }

    /// The Swift property of a stored one: its name, with `_` behind it where the name is taken.
    static func member(_ key: String, among keys: Set<String>) -> String {
        guard usedMembers.contains(key) else { return key }
        var name = key + "_"
        while keys.contains(name) { name += "_" }
        return name
    }

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
