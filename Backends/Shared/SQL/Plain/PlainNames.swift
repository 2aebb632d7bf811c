internal import PolystoreStorage

/// The names of new tables and columns, which are those of the schema. A name that the engine would truncate, refuse or confuse with another
/// one is refused.
struct PlainNames {
    private let dialect: PlainDialect
    /// The names in use, as the engine compares them, with what they stand for.
    private var taken: [String: String] = [:]

    init(_ dialect: PlainDialect) { self.dialect = dialect }

    /// Whether a name is in use.
    func contains(_ name: String) -> Bool { taken[dialect.folded(name)] != nil }

    /// Adds a name. Returns why it cannot be used, or nil.
    ///
    /// - Parameter path: What it stands for, such as `Book.title`.
    mutating func add(_ name: String, for path: String, isColumn: Bool) -> String? {
        let folded = dialect.folded(name), kind = isColumn ? "column" : "table"
        if name.utf8.count > dialect.names.limit {
            return "the name \(name.excerpt()) of the \(kind) for \(path.excerpt()) is longer than \(dialect.names.limit) bytes"
        }
        let isReserved =
            isColumn ? dialect.names.reservedColumns.contains(name) : dialect.names.reservedPrefix.map(folded.hasPrefix) ?? false
        if isReserved { return "the engine reserves the name \(name) of the \(kind) for \(path)" }
        if let other = taken.updateValue(path, forKey: folded) {
            return "\(other) and \(path) would have \(kind)s with the same name, \(name); rename one of them"
        }
        return nil
    }

    /// Adds the first name of a list that is not in use, and returns it.
    mutating func addFirst(_ names: [String], for path: String) -> String {
        let name = names.first { !contains($0) } ?? names[0]
        taken[dialect.folded(name)] = path
        return name
    }

    /// Adds a name that is not in use, with a number if necessary, and returns it.
    mutating func addDistinct(_ name: String) -> String {
        var candidate = name, number = 2
        while contains(candidate) {
            candidate = "\(name)_\(number)"
            number += 1
        }
        taken[dialect.folded(candidate)] = candidate
        return candidate
    }
}
