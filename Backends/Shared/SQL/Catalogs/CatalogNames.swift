internal import PolystoreStorage

/// A source of names for entities and properties: the names of their tables and columns, unchanged where possible.
struct CatalogNames {
    private var taken: Set<String> = []

    /// Returns a name that was not returned before.
    mutating func distinct(_ text: String) -> String {
        let name = Self.identifier(text)
        var candidate = name, number = 2
        while !taken.insert(candidate).inserted {
            candidate = "\(name)\(number)"
            number += 1
        }
        return candidate
    }

    /// Returns the text as a name: invalid characters become underscores, and an x precedes a first character that names cannot begin with.
    static func identifier(_ text: String) -> String {
        var scalars = String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.isXIDContinue ? $0 : "_" })
        let isReserved = text == "SELF" || text.hasPrefix("polystore_")
        if isReserved || scalars.first.map({ !$0.properties.isXIDStart }) ?? true { scalars.insert("x", at: scalars.startIndex) }
        return String(scalars)
    }

    /// Returns the name of a to-one relationship: the name of its column without an `_id` at the end.
    static func relationship(_ column: String, to table: String) -> String {
        for suffix in ["_id", "_ID", "_Id", "Id", "ID"] where column.hasSuffix(suffix) && column.utf8.count > suffix.utf8.count {
            return String(column.dropLast(suffix.count))
        }
        return column.lowercased() == "id" ? table : column
    }
}
