internal import PolystoreStorage

/// Gives names of tables and columns to entities and properties: their own wherever they can keep them.
struct CatalogNames {
    private var taken: Set<String> = []

    /// A name that was not given before.
    mutating func distinct(_ text: String) -> String {
        let name = Self.identifier(text)
        var candidate = name, number = 2
        while !taken.insert(candidate).inserted {
            candidate = "\(name)\(number)"
            number += 1
        }
        return candidate
    }

    /// The text as a name: what names cannot have becomes an underscore, and what they cannot begin with follows an x.
    static func identifier(_ text: String) -> String {
        var scalars = String.UnicodeScalarView(text.unicodeScalars.map { $0.properties.isXIDContinue ? $0 : "_" })
        let isReserved = text == "SELF" || text.hasPrefix("polystore_")
        if isReserved || scalars.first.map({ !$0.properties.isXIDStart }) ?? true { scalars.insert("x", at: scalars.startIndex) }
        return String(scalars)
    }

    /// The name of a to-one relationship: that of its column without an `_id` at its end.
    static func relationship(_ column: String, to table: String) -> String {
        for suffix in ["_id", "_ID", "_Id", "Id", "ID"] where column.hasSuffix(suffix) && column.utf8.count > suffix.utf8.count {
            return String(column.dropLast(suffix.count))
        }
        return column.lowercased() == "id" ? table : column
    }
}
