internal import PolystoreStorage

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
}
