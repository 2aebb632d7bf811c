#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// A reader of the catalog of a SQLite file that another program created: its tables, keys, references and conditions.
struct SQLiteCatalogReader {
    private let rows: SQLiteCatalogRows
    private var remarks: [CatalogRemark] = []
    /// The tables and columns, in lower case, in which SQLite converts integer texts to numbers.
    private var integers: Set<[String]> = []
    private let isInPlace: Bool
    private let readsIndexes: Bool

    /// - Parameters:
    ///   - isInPlace: Whether the tables will be written in place.
    ///   - readsIndexes: Whether indexes that are not unique become part of the schema.
    init(_ connection: SQLiteConnection, isInPlace: Bool = false, readsIndexes: Bool = false) {
        rows = SQLiteCatalogRows(connection)
        self.isInPlace = isInPlace
        self.readsIndexes = readsIndexes
    }

    /// Returns the catalog.
    ///
    /// - Throws: `invalidConfiguration` for a Polystore store, which must be opened without a catalog.
    mutating func catalog() throws(StorageError) -> DatabaseCatalog {
        let found = try rows.tables()
        if found.contains(where: { $0.name == "polystore_metadata" }) {
            throw StorageError(.invalidConfiguration, "the file is a Polystore store; open it without the option catalog")
        }
        var tables: [CatalogTable] = [], references: [String: [SQLiteCatalogRows.Reference]] = [:], names: Set<String> = []
        for table in found {
            switch table.type {
            case "table":
                if !names.insert(table.name).inserted {
                    remarks.append(.twin(table.name))
                    continue
                }
                let columns = try rows.columns(table.name)
                guard let read = try self.table(table, columns) else { continue }
                tables.append(read)
                integers.formUnion(
                    columns.filter { SQLiteDeclaredType($0.type).isInteger }.map { [table.name.lowercased(), $0.name.lowercased()] })
                references[table.name] = try rows.references(table.name)
            // Shadow tables contain the data of a virtual table.
            case "shadow": continue
            default: remarks.append("the \(table.type) \(table.name) is left out: only tables are read")
            }
        }
        try addReferences(&tables, references)
        var catalog = DatabaseCatalog(tables: tables, remarks: remarks, isInPlace: isInPlace)
        try catalog.addIncompletePairs(trustsKeys: false, rows.count)
        return catalog
    }

    // MARK: Tables and columns

    private mutating func table(
        _ table: SQLiteCatalogRows.Table, _ declared: [SQLiteCatalogRows.Column]
    ) throws(StorageError) -> CatalogTable? {
        let primaryKey = declared.filter { $0.position > 0 }.sorted { $0.position < $1.position }.map(\.name)
        guard let key = try key(table, declared, primaryKey) else {
            remarks.append(
                CatalogRemark(
                    "the table \(table.name) is left out: it has no primary key or unique index that identifies its rows", loss: table.name)
            )
            return nil
        }
        var columns: [CatalogColumn] = []
        for column in declared { if let read = try self.column(column, table, key) { columns.append(read) } }
        var uniqueKeys: [[String]] = []
        for index in try rows.uniqueIndexes(table.name) {
            if let names = index.columns {
                uniqueKeys.append(names)
            } else {
                let loss = isInPlace && index.hasExpressions ? ", so that a row which REPLACE removes because of it is not detected" : ""
                remarks.append("the unique index \(index.name) of \(table.name) is left out: it is partial or over expressions\(loss)")
            }
        }
        let indexes = try indexes(table, columns)
        let statement = try rows.statement(table.name), folded = CatalogCheck.foldedColumns(ofTable: statement)
        for index in columns.indices { columns[index].comparesBytes = !folded.contains(columns[index].name.lowercased()) }
        var result = CatalogTable(
            name: table.name, source: "main.\(SQLText.quoted(table.name))", columns: columns, primaryKey: primaryKey, key: key,
            uniqueKeys: uniqueKeys, indexes: indexes.filter { $0.obstacle == nil }.map(\.columns),
            checks: CatalogCheck.checks(ofTable: statement))
        let known = Set(columns.map(\.name))
        result.hasLargeKeys = try hasLargeKeys(table, declared, result)
        result.unwritable = declared.filter { $0.isRequired && $0.defaultValue == nil && !$0.isComputed && !known.contains($0.name) }.map(
            \.name)
        return result
    }

    private mutating func indexes(_ table: SQLiteCatalogRows.Table, _ columns: [CatalogColumn]) throws(StorageError) -> [CatalogIndex] {
        guard readsIndexes else { return [] }
        let indexes = try CatalogIndex.checked(try rows.otherIndexes(table.name), columns) { [rows] column, bytes throws(StorageError) in
            try rows.holdsLong(table.name, column.name, bytes)
        }
        remarks += indexes.compactMap { $0.remark(table.name) }
        return indexes
    }

    /// Returns the key of a table: its integer primary key, else its row ID, else the row number in primary key order.
    private func key(
        _ table: SQLiteCatalogRows.Table, _ columns: [SQLiteCatalogRows.Column], _ primaryKey: [String]
    ) throws(StorageError) -> CatalogKey? {
        if primaryKey.count == 1, let column = columns.first(where: { $0.name == primaryKey[0] }) {
            if try isKey(column, table) { return .column(column.name) }
        }
        let taken = Set(columns.map { $0.name.lowercased() })
        if !table.isWithoutRowID, let name = ["rowid", "_rowid_", "oid"].first(where: { !taken.contains($0) }) {
            if try rows.holdsKeys(table.name, name) { return .column(name) }
        }
        return primaryKey.isEmpty ? nil : .counted(by: primaryKey)
    }

    private func isKey(_ column: SQLiteCatalogRows.Column, _ table: SQLiteCatalogRows.Table) throws(StorageError) -> Bool {
        if try !isInteger(column, table) { return false }
        return try rows.holdsKeys(table.name, column.name)
    }

    private func hasLargeKeys(
        _ table: SQLiteCatalogRows.Table, _ columns: [SQLiteCatalogRows.Column], _ read: CatalogTable
    ) throws(StorageError) -> Bool {
        guard read.primaryKey.count == 1, let column = columns.first(where: { $0.name == read.primaryKey[0] }) else { return false }
        if read.key == .column(column.name) { return false }
        return try isInteger(column, table)
    }

    private func isInteger(_ column: SQLiteCatalogRows.Column, _ table: SQLiteCatalogRows.Table) throws(StorageError) -> Bool {
        guard SQLiteDeclaredType(column.type).isInteger else { return false }
        let hasIndex = try rows.hasKeyIndex(table.name)
        let isRowNumber = !table.isWithoutRowID && !hasIndex && column.type.uppercased() == "INTEGER"
        if isRowNumber { return true }
        return try rows.holdsOnlyIntegers(table.name, column.name)
    }

    private mutating func column(
        _ column: SQLiteCatalogRows.Column, _ table: SQLiteCatalogRows.Table, _ key: CatalogKey
    ) throws(StorageError) -> CatalogColumn? {
        let place = "\(table.name).\(column.name)", declared = SQLiteDeclaredType(column.type)
        if isInPlace, column.isComputed {
            remarks.append("\(place) is left out: it is a generated column")
            return nil
        }
        // A primary key other than the row ID may contain NULLs, a bug that SQLite keeps for compatibility with old files.
        var isOptional = !column.isRequired && column.position == 0
        if !column.isRequired, column.position > 0, !isInPlace, key != .column(column.name) {
            isOptional = try rows.holdsNull(table.name, column.name)
        }
        var type = declared.valueType
        if type == nil { type = try rows.typeOfValues(table.name, column.name) }
        guard let type else {
            remarks.append(CatalogRemark("\(place) is left out: it has no declared type, and its values have several types", loss: place))
            return nil
        }
        if type == .date, case let count = try rows.fineDates(table.name, column.name), count > 0 {
            remarks.append(CatalogRemark("\(count) dates of \(place) are rounded to microseconds", loss: place))
        }
        // Only a STRICT table guarantees integers in an integer column. An index can find only a column without a function call around it.
        let isSure = key == .column(column.name) || table.isStrict && type == .int64
        let value = isSure ? "t.\(SQLText.quoted(column.name))" : SQLiteForm(type).call(column.name, place: place)
        var stored: (@Sendable (String) -> String)?
        if isInPlace, case .column(let key) = key {
            let newest = type == .date || type == .uuid ? try rows.newestForm(table.name, column.name, key: key) : nil
            stored = SQLiteStoring(type, declared: declared, newest: newest)?.call(place: place)
        }
        var result = CatalogColumn(column.name, type, value: value, isOptional: isOptional, stored: stored)
        if isInPlace, let literal = column.defaultValue.flatMap(CatalogDefault.literal) {
            result.defaultValue = try rows.value(literal, of: column.name, SQLiteForm(type))
        }
        return result
    }

    // MARK: References

    /// Returns whether two names are the same to SQLite, which compares them without regard to the case of ASCII letters.
    private static func isSame(_ a: String, _ b: String) -> Bool { ExactText(a.lowercased()) == ExactText(b.lowercased()) }

    private mutating func addReferences(
        _ tables: inout [CatalogTable], _ references: [String: [SQLiteCatalogRows.Reference]]
    ) throws(StorageError) {
        let positions = Dictionary(tables.indices.map { (tables[$0].name.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
        for index in tables.indices {
            for reference in references[tables[index].name] ?? [] {
                guard let other = positions[reference.table.lowercased()].map({ tables[$0] }), Self.isSame(other.name, reference.table)
                else {
                    remarks.append(
                        "a foreign key of \(tables[index].name) refers to \(reference.table), which is not a table that can be read")
                    continue
                }
                try add(reference, to: other, &tables[index])
            }
        }
    }

    private mutating func add(
        _ reference: SQLiteCatalogRows.Reference, to other: CatalogTable, _ table: inout CatalogTable
    ) throws(StorageError) {
        func named(_ wanted: String, _ table: CatalogTable) -> String {
            (table.columns.map(\.name) + table.primaryKey).first { Self.isSame($0, wanted) } ?? wanted
        }
        let columns = reference.columns.map { named($0, table) }
        let targets = reference.targets.isEmpty ? other.primaryKey : reference.targets.map { named($0, other) }
        var key = CatalogForeignKey(
            columns: columns, table: other.name, references: targets, deleteRule: reference.deleteRule, isTrusted: false,
            isTyped: columns.allSatisfy { integers.contains([table.name.lowercased(), $0.lowercased()]) })
        if other.isKey(targets), targets.count == columns.count {
            // Only connections that request it check references.
            let missing = try rows.count(key.countOfMissing(table, other))
            if missing > 0 { remarks.append(key.remark(missing: missing, table)) }
            key.isTrusted = missing == 0
        }
        table.foreignKeys.append(key)
    }
}
#endif
