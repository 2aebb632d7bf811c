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

    /// Throws if objects cannot be stored in the database in place.
    ///
    /// - Parameters:
    ///   - option: The URL option for reading the database only.
    ///   - remedy: Returns the statements that add an integer key to a table.
    /// - Throws: `unsupported`, with every unsuitable table, the reason, and the remedy.
    package func checkInPlace(option: String, remedy: (CatalogTable) -> String) throws(StorageError) {
        let joins = joins, entities = tables.filter { !joins.contains($0.name) }
        let unkeyed = entities.filter { $0.keyFault != nil }
        let faults = entities.flatMap { table in
            [table.keyFault].compactMap { $0 }.map { "\(table.name) \($0)" }
                + table.unwritable.map { "\(table.name).\($0) requires a value and cannot be written" }
        }
        if faults.isEmpty { return }
        let way = unkeyed.first.map { "give each such table an integer primary key of one column, as in: \(remedy($0)); or " } ?? ""
        throw StorageError(
            .unsupported,
            "the database cannot be used in place: \(faults.joined(separator: "; ")). What to do: \(way)open it with \(option), which "
                + "reads it, and transfer it to a Polystore store (polystore transfer FROM TO)")
    }
}

extension CatalogTable {
    /// The reason that the primary key cannot be a row key; nil if it can.
    fileprivate var keyFault: String? {
        if primaryKey.isEmpty { return "has no primary key" }
        let names = primaryKey.joined(separator: ", ")
        if primaryKey.count > 1 { return "has a primary key of several columns (\(names))" }
        return key == .column(primaryKey[0]) ? nil : "has the primary key \(names), which is not an integer"
    }
}
