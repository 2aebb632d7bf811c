public import PolystoreStorage

extension DatabaseCatalog {
    /// The tables that are many-to-many relationships: others that are referred to have rows of their own.
    var joins: Set<String> {
        let known = Dictionary(tables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let referred = Set(tables.flatMap { $0.foreignKeys.map(\.table) })
        let found = tables.filter { table in
            table.isJoin && !referred.contains(table.name)
                && table.foreignKeys.allSatisfy { known[$0.table]?.isKey($0.references) ?? false }
        }
        return Set(found.map(\.name))
    }

    /// Refuses a database whose objects cannot be kept where they are.
    ///
    /// - Parameters:
    ///   - option: What the URL says instead to read the database only.
    ///   - remedy: The statements that give a table a key of whole numbers.
    /// - Throws: `unsupported` naming every table that does not fit, why, and what to do.
    public func checkInPlace(option: String, remedy: (CatalogTable) -> String) throws(StorageError) {
        let joins = joins, entities = tables.filter { !joins.contains($0.name) }
        let unkeyed = entities.filter { $0.keyFault != nil }
        let faults = entities.flatMap { table in
            [table.keyFault].compactMap { $0 }.map { "\(table.name) \($0)" }
                + table.unwritable.map { "\(table.name).\($0) must have a value and is none that can be written" }
        }
        if faults.isEmpty { return }
        let way = unkeyed.first.map { "give each such table a primary key of one whole number, as in: \(remedy($0)); or " } ?? ""
        throw StorageError(
            .unsupported,
            "the database cannot be used in place: \(faults.joined(separator: "; ")). What to do: \(way)open it with \(option), which reads it, "
                + "and transfer it to a store of its own (polystore transfer FROM TO)")
    }
}

extension CatalogTable {
    /// What its primary key lacks to be the key of objects; nil for nothing.
    fileprivate var keyFault: String? {
        if primaryKey.isEmpty { return "has no primary key" }
        let names = primaryKey.joined(separator: ", ")
        if primaryKey.count > 1 { return "has a primary key of several columns (\(names))" }
        return key == .column(primaryKey[0]) ? nil : "has the primary key \(names), which is not of whole numbers"
    }
}
