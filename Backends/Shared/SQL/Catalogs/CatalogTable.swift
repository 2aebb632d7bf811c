internal import PolystoreStorage

/// A table of a foreign database. Its SQL refers to the table as `t`.
package struct CatalogTable: Sendable {
    /// The name.
    package var name: String
    /// The schema-qualified table name as SQL.
    package var source: String
    /// The readable columns, in their order.
    package var columns: [CatalogColumn]
    /// The columns of the primary key; empty without a primary key.
    package var primaryKey: [String]
    /// The source of the row key.
    package var key: CatalogKey
    /// The column sets of other unique constraints.
    package var uniqueKeys: [[String]]
    /// The columns of each other index that covers every row by the values of columns, most significant first.
    package var indexes: [[String]]
    /// The references to other tables.
    package var foreignKeys: [CatalogForeignKey]
    /// The check conditions of the table.
    package var checks: [CatalogCheck]
    /// The columns that require a value but are not among `columns`.
    package var unwritable: [String] = []
    /// Whether the primary key is an integer column with values that cannot be keys because of their size.
    package var hasLargeKeys = false

    /// Creates a table. Keys and conditions can be added later.
    package init(
        name: String, source: String, columns: [CatalogColumn], primaryKey: [String], key: CatalogKey, uniqueKeys: [[String]] = [],
        indexes: [[String]] = [], foreignKeys: [CatalogForeignKey] = [], checks: [CatalogCheck] = []
    ) {
        self.name = name
        self.source = source
        self.columns = columns
        self.primaryKey = primaryKey
        self.key = key
        self.uniqueKeys = uniqueKeys
        self.indexes = indexes
        self.foreignKeys = foreignKeys
        self.checks = checks
    }

    /// Whether the columns identify a row uniquely.
    package func isKey(_ columns: [String]) -> Bool {
        let wanted = Set(columns)
        if case .column(let name) = key, wanted == [name] { return true }
        return ([primaryKey] + uniqueKeys).contains { !$0.isEmpty && Set($0) == wanted }
    }

    /// Whether the table only joins two other tables: it has two references that form its primary key, and no other columns.
    var isJoin: Bool {
        guard foreignKeys.count == 2, foreignKeys.allSatisfy({ $0.columns.count == 1 }), columns.count == 2 else { return false }
        let pair = Set(foreignKeys.flatMap(\.columns))
        return pair.count == 2 && pair == Set(columns.map(\.name)) && isKey(Array(pair))
    }
}
