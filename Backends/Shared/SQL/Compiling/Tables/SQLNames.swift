internal import PolystoreStorage

/// The engine's names for the elements of a schema, usually the schema's own names. A name that the engine would truncate, refuse or
/// confuse with another one gets a hash of its complete text, so that it does not depend on the rest of the schema.
struct SQLNames: Sendable {
    /// The names of tables, links and indexes, which share a namespace.
    private let relations: [String: String]
    /// The columns of each hierarchy's table.
    private let columns: [EntityIndex: [String]]
    private let rules: SQLNameRules

    init(_ schema: Schema, _ rules: SQLNameRules, indexes: [String]) {
        self.rules = rules
        let texts =
            schema.roots.map { schema.entities[$0].name } + schema.links.flatMap { [$0.name, Self.memberIndex($0.name)] } + indexes
        relations = Dictionary(zip(texts, Self.distinct(texts, rules, isColumn: false))) { first, _ in first }
        columns = Dictionary(
            uniqueKeysWithValues: schema.roots.map { ($0, Self.distinct(schema[$0].columns.map(\.name), rules, isColumn: true)) })
    }

    static func memberIndex(_ link: String) -> String { link + ".member" }

    func relation(_ text: String) -> String { relations[text] ?? Self.fitted(text, rules) }
    func column(_ root: EntityIndex, _ column: Int) -> String { columns[root]?[column] ?? "" }

    private static func distinct(_ texts: [String], _ rules: SQLNameRules, isColumn: Bool) -> [String] {
        func folded(_ text: String) -> String { rules.foldsCase ? lowercased(text) : text }
        // Of several names that the engine does not distinguish, the first in byte order is kept.
        var keeper: [String: String] = [:]
        for text in texts {
            let other = keeper[folded(text)] ?? text
            keeper[folded(text)] = text.compareUTF8(to: other) < 0 ? text : other
        }
        return texts.map { text in
            let isReserved = isColumn ? rules.reservedColumns.contains(text) : rules.reservedPrefix.map(folded(text).hasPrefix) ?? false
            return isReserved || keeper[folded(text)] != text ? hashed(text, rules) : fitted(text, rules)
        }
    }

    private static func lowercased(_ text: String) -> String {
        String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { $0.isASCII ? $0.properties.lowercaseMapping.unicodeScalars.first ?? $0 : $0 }))
    }

    /// Returns the name, truncated and hashed where it is too long.
    static func fitted(_ text: String, _ rules: SQLNameRules) -> String { text.utf8.count > rules.limit ? hashed(text, rules) : text }

    private static func hashed(_ text: String, _ rules: SQLNameRules) -> String {
        let prefix = rules.reservedPrefix.map { lowercased(text).hasPrefix($0) } ?? false
        var cut = prefix ? "_" + text : text
        while cut.utf8.count > rules.limit - 13 { cut.removeLast() }
        return cut + "_" + SchemaHash(of: text).description.prefix(12)
    }
}
