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
}

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
    /// The references to other tables.
    package var foreignKeys: [CatalogForeignKey]
    /// The check conditions of the table.
    package var checks: [CatalogCheck]
    /// The columns that require a value but are not among `columns`.
    package var unwritable: [String] = []

    /// Creates a table. Keys and conditions can be added later.
    package init(
        name: String, source: String, columns: [CatalogColumn], primaryKey: [String], key: CatalogKey, uniqueKeys: [[String]] = [],
        foreignKeys: [CatalogForeignKey] = [], checks: [CatalogCheck] = []
    ) {
        self.name = name
        self.source = source
        self.columns = columns
        self.primaryKey = primaryKey
        self.key = key
        self.uniqueKeys = uniqueKeys
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

/// The source of a row key.
package enum CatalogKey: Sendable, Hashable {
    /// An integer column that identifies a row directly.
    case column(String)
    /// The number of the row in the order of columns that identify a row uniquely.
    ///
    /// Rows are numbered within each snapshot, so that the keys of a snapshot are consistent. Every request numbers all rows again: this is
    /// suitable for reading complete tables, not for looking up single objects.
    case counted(by: [String])

    /// The greatest number that may be a key; its negation is the least. Counters are set above the greatest key in use and need room to
    /// rise.
    package static let greatest: Int64 = 1 << 62
}

/// A column of a foreign table.
package struct CatalogColumn: Sendable {
    /// The name.
    package var name: String
    /// The type of its values in the schema.
    package var type: ValueType
    /// The value converted to that type, as SQL over the table `t`. A value without such a form must cause an error and must not become
    /// another value.
    package var value: String
    /// Whether the column may be nil.
    package var isOptional: Bool
    /// The maximum number of characters of a text; nil for no limit.
    package var maxLength: Int?
    /// The allowed values; empty for no such restriction.
    package var allowedValues: [String]
    /// A function that converts the SQL of a Polystore value to the form of the column; nil where the two forms are the same.
    package var stored: (@Sendable (String) -> String)?

    /// Creates a column.
    package init(
        _ name: String, _ type: ValueType, value: String, isOptional: Bool, maxLength: Int? = nil, allowedValues: [String] = [],
        stored: (@Sendable (String) -> String)? = nil
    ) {
        self.stored = stored
        self.name = name
        self.type = type
        self.value = value
        self.isOptional = isOptional
        self.maxLength = maxLength
        self.allowedValues = allowedValues
    }
}

/// A foreign key: columns that refer to a row of another table.
package struct CatalogForeignKey: Sendable {
    /// The columns.
    package var columns: [String]
    /// The name of the other table.
    package var table: String
    /// The referenced columns of the other table, in the same order.
    package var references: [String]
    /// The effect on the referring rows of deleting the row that they refer to.
    package var deleteRule: DeleteRule
    /// Whether every reference is guaranteed to have its row.
    package var isTrusted: Bool
    /// Whether the columns have the same type as the referenced columns.
    package var isTyped: Bool

    /// Creates a foreign key.
    package init(columns: [String], table: String, references: [String], deleteRule: DeleteRule, isTrusted: Bool, isTyped: Bool) {
        self.columns = columns
        self.table = table
        self.references = references
        self.deleteRule = deleteRule
        self.isTrusted = isTrusted
        self.isTyped = isTyped
    }
}
