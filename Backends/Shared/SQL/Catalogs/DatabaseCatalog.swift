package import PolystoreStorage

/// The tables of a foreign database's system catalog that objects can be derived from.
package struct DatabaseCatalog: Sendable {
    /// The tables.
    package var tables: [CatalogTable]
    /// The remarks on parts of the database that are left out or read differently from their declaration, for people to read.
    package var remarks: [CatalogRemark]
    /// Whether the tables are written in place. A column may then have only one meaning.
    package var isInPlace: Bool

    /// Creates a catalog.
    package init(tables: [CatalogTable], remarks: [CatalogRemark] = [], isInPlace: Bool = false) {
        self.tables = tables
        self.remarks = remarks
        self.isInPlace = isInPlace
    }

    /// Adds a remark for each many-to-many table with rows that lack one of their two sides: they are no pairs.
    ///
    /// - Parameters:
    ///   - trustsKeys: Whether no column of a primary key can be NULL.
    ///   - count: Runs a statement that returns a number.
    package mutating func addIncompletePairs(
        trustsKeys: Bool, _ count: (SQLText) throws(StorageError) -> Int64
    ) throws(StorageError) {
        for table in tables where joins.contains(table.name) {
            let columns = table.columns.filter { $0.isOptional || !trustsKeys && table.primaryKey.contains($0.name) }
            if columns.isEmpty { continue }
            let isIncomplete = columns.map { "t.\(SQLText.quoted($0.name)) IS NULL" }.joined(separator: " OR ")
            let found = try count("SELECT count(*) FROM \(raw: table.source) AS t WHERE \(raw: isIncomplete)")
            if found == 0 { continue }
            remarks.append(
                CatalogRemark("\(found) rows of \(table.name) are left out: one of the two rows that they relate is NULL", loss: table.name)
            )
        }
    }
}
