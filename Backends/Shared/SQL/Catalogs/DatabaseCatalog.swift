public import PolystoreStorage

/// What the catalog of somebody else's database says, as far as objects can be made of its tables.
public struct DatabaseCatalog: Sendable {
    /// The tables.
    public var tables: [CatalogTable]
    /// What is left out or read otherwise than it is declared, for people to read.
    public var remarks: [CatalogRemark]
    /// Whether the tables are written where they lie: then no column may have two meanings.
    public var isInPlace: Bool

    /// A catalog.
    public init(tables: [CatalogTable], remarks: [CatalogRemark] = [], isInPlace: Bool = false) {
        self.tables = tables
        self.remarks = remarks
        self.isInPlace = isInPlace
    }
}

/// A table of somebody else's database. In all of its SQL the table is called `t`.
public struct CatalogTable: Sendable {
    /// The name.
    public var name: String
    /// The table as SQL names it, with its schema.
    public var source: String
    /// The columns that can be read, in their order.
    public var columns: [CatalogColumn]
    /// The columns of the primary key; empty where there is none.
    public var primaryKey: [String]
    /// What becomes the key of an object.
    public var key: CatalogKey
    /// The other keys that no two rows agree in.
    public var uniqueKeys: [[String]]
    /// What refers to other tables.
    public var foreignKeys: [CatalogForeignKey]
    /// The conditions that all rows meet.
    public var checks: [CatalogCheck]
    /// The columns that must have a value and that are none of `columns`.
    public var unwritable: [String] = []

    /// A table; keys and conditions can be added later.
    public init(
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

    /// Whether rows can be found by columns: no two rows agree in them.
    public func isKey(_ columns: [String]) -> Bool {
        let wanted = Set(columns)
        if case .column(let name) = key, wanted == [name] { return true }
        return ([primaryKey] + uniqueKeys).contains { !$0.isEmpty && Set($0) == wanted }
    }

    /// Whether it only joins two others: two references that are its primary key, and nothing else.
    var isJoin: Bool {
        guard foreignKeys.count == 2, foreignKeys.allSatisfy({ $0.columns.count == 1 }), columns.count == 2 else { return false }
        let pair = Set(foreignKeys.flatMap(\.columns))
        return pair.count == 2 && pair == Set(columns.map(\.name)) && isKey(Array(pair))
    }
}

/// What becomes the key of an object.
public enum CatalogKey: Sendable, Hashable {
    /// A column of whole numbers that finds a row at once.
    case column(String)
    /// The number of the row in the order of columns that no two rows agree in.
    ///
    /// It is counted within each snapshot, so that all of a snapshot fits together. Every request counts anew: that is good for reading
    /// everything, not for looking up single objects.
    case counted(by: [String])

    /// The greatest number that may be a key, and its opposite the least: counters rise above the greatest key that there is, and need room.
    public static let greatest: Int64 = 1 << 62
}

/// A column of somebody else's table.
public struct CatalogColumn: Sendable {
    /// The name.
    public var name: String
    /// The type that its values have for us.
    public var type: ValueType
    /// Its value in the form of that type, as SQL over the table `t`. What has no such form must fail, not become something else.
    public var value: String
    /// Whether it may be nil.
    public var isOptional: Bool
    /// The most characters of a text; nil for no limit.
    public var maxLength: Int?
    /// The only values that it has; empty for no such limit.
    public var allowedValues: [String]
    /// A value of ours, as SQL, in the form of the column; nil where the two forms are one.
    public var stored: (@Sendable (String) -> String)?

    /// A column.
    public init(
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

/// Columns that refer to a row of another table.
public struct CatalogForeignKey: Sendable {
    /// The columns.
    public var columns: [String]
    /// The name of the other table.
    public var table: String
    /// The other table's columns, in the same order.
    public var references: [String]
    /// What happens to the referring rows when the other one is deleted.
    public var deleteRule: DeleteRule
    /// Whether every reference has its row.
    public var isTrusted: Bool
    /// Whether the columns have the type of those that they refer to.
    public var isTyped: Bool

    /// A reference.
    public init(columns: [String], table: String, references: [String], deleteRule: DeleteRule, isTrusted: Bool, isTyped: Bool) {
        self.columns = columns
        self.table = table
        self.references = references
        self.deleteRule = deleteRule
        self.isTrusted = isTrusted
        self.isTyped = isTyped
    }
}
