package import PolystoreStorage

extension DatabaseCatalog {
    /// The tables that are many-to-many relationships. A table that another table refers to is an entity, because it has rows of its own.
    var joins: Set<String> {
        let known = Dictionary(tables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let referred = Set(tables.flatMap { $0.foreignKeys.map(\.table) })
        let found = tables.filter { table in
            table.isJoin && !referred.contains(table.name)
                && table.foreignKeys.allSatisfy { known[$0.table]?.isKey($0.references) ?? false }
        }
        return Set(found.map(\.name))
    }

    /// Leaves out the tables whose rows cannot be objects that are written in place, with a remark about each. A column that refers to such a
    /// table becomes an attribute.
    ///
    /// - Parameters:
    ///   - request: The request, whose model may name such a table.
    ///   - option: The URL option for reading the database only.
    ///   - remedy: Returns the statements that add an integer key to each of some tables, or to the first one; nil if foreign keys that refer
    ///     to the first one have to be changed before.
    /// - Throws: `unsupported`, with the reasons and the remedy, for tables that the model names, and for all tables if none remains.
    package mutating func leaveOutUnfit(
        _ request: OpenRequest, option: String, remedy: ([CatalogTable]) throws(StorageError) -> String?
    ) throws(StorageError) {
        var unfit: [CatalogTable] = []
        while true {
            // A table of pairs is one only as long as the tables of both sides are read.
            let joins = joins, found = tables.filter { !joins.contains($0.name) && !$0.faults.isEmpty }
            if found.isEmpty { break }
            unfit += found
            let names = Set(found.map(\.name))
            tables.removeAll { names.contains($0.name) }
        }
        if unfit.isEmpty { return }
        unfit.sort { $0.name < $1.name }
        let entities = Set(request.schema?.entities.map(\.name) ?? [])
        let named = unfit.filter { entities.contains($0.name) || entities.contains(CatalogNames.identifier($0.name)) }
        let refused = tables.isEmpty ? unfit : named
        if !refused.isEmpty { throw try Self.refusal(refused, option, remedy) }
        remarks += unfit.map { table in
            CatalogRemark("the table \(table.name) is left out: \(table.faults.joined(separator: ", and "))", loss: table.name)
        }
    }

    private static func refusal(
        _ tables: [CatalogTable], _ option: String, _ remedy: ([CatalogTable]) throws(StorageError) -> String?
    ) throws(StorageError) -> StorageError {
        let faults = tables.flatMap { table in table.faults.map { "\(table.name): \($0)" } }
        let unkeyed = tables.filter { $0.keyFault != nil && !$0.hasLargeKeys }
        let way = try unkeyed.first.map { table throws(StorageError) in
            let statements = try remedy(unkeyed)
            let example =
                statements.map { ", as in: \($0)" }
                ?? ", but first name the columns in the foreign keys that refer to \(table.name) without columns: they would refer to the new key."
            return "give each such table an integer primary key of one column\(example) Or "
        }
        return StorageError(
            .unsupported,
            "the database has tables that cannot be used in place: \(faults.joined(separator: "; ")). What to do: \(way ?? "")open the database "
                + "with \(option), which reads it, and transfer it to a Polystore store (polystore transfer FROM TO)")
    }
}

extension CatalogTable {
    /// The reasons for which the rows cannot be objects that are written in place.
    fileprivate var faults: [String] {
        [keyFault].compactMap { $0 } + unwritable.map { "the column \($0) requires a value and cannot be written" }
    }

    /// The reason that the primary key cannot be a row key; nil if it can.
    fileprivate var keyFault: String? {
        if primaryKey.isEmpty { return "it has no primary key" }
        let names = primaryKey.joined(separator: ", ")
        if primaryKey.count > 1 { return "it has a primary key of several columns (\(names))" }
        if hasLargeKeys {
            let most = CatalogKey.greatest, column = SQLText.quoted(primaryKey[0])
            return "its primary key \(names) has values outside the range of keys, ±\(most); change or delete the rows that this finds: "
                + "SELECT * FROM \(SQLText.quoted(name)) WHERE \(column) NOT BETWEEN -\(most) AND \(most)"
        }
        return key == .column(primaryKey[0]) ? nil : "it has the primary key \(names), which is not an integer"
    }
}
