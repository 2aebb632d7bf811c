#if SQLite
internal import PolystoreStorage

/// The declared type of a column (https://sqlite.org/datatype3.html), for which SQLite accepts any word.
struct SQLiteDeclaredType {
    private let word: String

    init(_ declared: String) {
        word = String(declared.uppercased().prefix { $0 != "(" }.drop { $0 == " " })
    }

    private func has(_ parts: String...) -> Bool { parts.contains { word.contains($0) } }

    /// Whether SQLite converts integer texts to numbers when it stores them.
    var isInteger: Bool { has("INT") }

    /// Whether the type is a day without a time.
    var isDay: Bool { word == "DATE" }

    /// Whether SQLite converts texts that look like numbers to numbers: the affinities INTEGER, NUMERIC and REAL (section 3.1 of that
    /// page).
    var keepsNumbers: Bool { isInteger || !(word.isEmpty || has("CHAR", "CLOB", "TEXT", "BLOB")) }

    /// The type of the values; nil where the declaration does not determine it and the values must.
    var valueType: ValueType? {
        if word.isEmpty || has("INTERVAL") { return nil }
        if has("BOOL") { return .bool }
        if has("DATETIME", "TIMESTAMP") || word == "DATE" { return .date }
        if has("UUID", "GUID") { return .uuid }
        if has("INT") { return .int64 }
        if has("CHAR", "CLOB", "TEXT", "STRING", "JSON", "URL", "URI", "TIME") { return .string }
        if has("BLOB", "BINARY") { return .data }
        if has("REAL", "FLOA", "DOUB") { return .double }
        return has("DEC", "NUM", "MONEY", "CURRENCY") ? .decimal : nil
    }
}
#endif
