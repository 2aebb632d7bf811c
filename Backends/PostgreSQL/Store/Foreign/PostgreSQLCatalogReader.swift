#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// A reader of the catalog of a schema that another program created: its tables, keys, references and conditions.
struct PostgreSQLCatalogReader {
    private static let integers: Set<Int64> = [20, 21, 23]

    private let rows: PostgreSQLCatalogRows
    private let schema: String
    private var remarks: [CatalogRemark] = []
    /// The integer columns, by table and name.
    private var integers: Set<[String]> = []
    private let isInPlace: Bool
    private let readsIndexes: Bool

    /// - Parameters:
    ///   - isInPlace: Whether the tables will be written in place.
    ///   - readsIndexes: Whether indexes that are not unique become part of the schema.
    init(_ connection: PostgreSQLConnection, schema: String, isInPlace: Bool = false, readsIndexes: Bool = false) {
        rows = PostgreSQLCatalogRows(connection)
        self.schema = schema
        self.isInPlace = isInPlace
        self.readsIndexes = readsIndexes
    }

    /// Returns the catalog.
    ///
    /// - Throws: `notFound` if there is no such schema, `invalidConfiguration` for a Polystore store, which must be opened without a
    ///   catalog.
    mutating func catalog() throws(StorageError) -> DatabaseCatalog {
        guard let found = try rows.tables(schema, isInPlace: isInPlace) else {
            throw StorageError(.notFound, "the database has no schema \"\(schema)\"; set another with the option x-schema")
        }
        if found.contains(where: { $0.name == "polystore_metadata" }) {
            throw StorageError(.invalidConfiguration, "the schema \"\(schema)\" is a Polystore store; open it without the option x-catalog")
        }
        let kinds = ["v": "view", "m": "materialized view", "f": "foreign table"]
        var tables: [CatalogTable] = [], references: [String: [PostgreSQLCatalogRows.Reference]] = [:], names: Set<String> = []
        for table in found {
            if let kind = kinds[table.kind] {
                remarks.append("the \(kind) \(table.name) is left out: only tables are read")
                continue
            }
            if !names.insert(table.name).inserted {
                remarks.append(.twin(table.name))
                continue
            }
            if table.isFiltered {
                remarks.append(
                    CatalogRemark(
                        "the rows of \(table.name) that its row security policies hide from the user are left out", loss: table.name))
            }
            tables.append(try self.table(table))
            references[table.name] = try rows.references(table.oid)
        }
        let known = Dictionary(tables.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        let filtered = Set(found.filter(\.isFiltered).map(\.name))
        for index in tables.indices {
            for reference in references[tables[index].name] ?? [] { try add(reference, to: &tables[index], known, filtered) }
        }
        var catalog = DatabaseCatalog(tables: tables, remarks: remarks, isInPlace: isInPlace)
        try catalog.addIncompletePairs(trustsKeys: true, rows.count)
        return catalog
    }

    private mutating func table(_ table: PostgreSQLCatalogRows.Table) throws(StorageError) -> CatalogTable {
        let declared = try rows.columns(table.oid), keys = try rows.keys(table.oid)
        integers.formUnion(declared.filter { Self.integers.contains($0.type) }.map { [table.name, $0.name] })
        let primaryKey = keys.first(where: \.isPrimary)?.columns ?? []
        // The rows of a table that inherits are read from their own table; all rows of a partitioned table are in its partitions.
        let source = "\(table.kind == "r" ? "ONLY " : "")\(SQLText.quoted(schema)).\(SQLText.quoted(table.name))"
        let key = try key(table, primaryKey, source)
        var columns: [CatalogColumn] = []
        for column in declared {
            if isInPlace, column.isComputed, key != .column(column.name) {
                remarks.append("\(table.name).\(column.name) is left out: it is a generated column")
                continue
            }
            columns.append(try self.column(column, table))
        }
        for name in try rows.otherUniqueIndexes(table.oid) {
            remarks.append("the unique index \(name) of \(table.name) is left out: it is partial or over expressions")
        }
        let indexes = try indexes(table, source, columns)
        var result = CatalogTable(
            name: table.name, source: source, columns: columns, primaryKey: primaryKey, key: key,
            uniqueKeys: keys.filter { !$0.isPrimary }.map(\.columns), indexes: indexes.filter { $0.obstacle == nil }.map(\.columns),
            checks: try rows.checks(table.oid).map { CatalogCheck($0) })
        result.hasLargeKeys = primaryKey.count == 1 && integers.contains([table.name, primaryKey[0]]) && key != .column(primaryKey[0])
        return result
    }

    private mutating func indexes(
        _ table: PostgreSQLCatalogRows.Table, _ source: String, _ columns: [CatalogColumn]
    ) throws(StorageError) -> [CatalogIndex] {
        guard readsIndexes else { return [] }
        let indexes = try CatalogIndex.checked(try rows.otherIndexes(table.oid), columns) { [rows] column, bytes throws(StorageError) in
            try rows.holdsLong(source, column.name, isText: column.type != .data, bytes)
        }
        remarks += indexes.compactMap { $0.remark(table.name) }
        return indexes
    }

    /// Returns the key of a table: its integer primary key, else the row number in primary key order, else the row number in table order.
    private func key(
        _ table: PostgreSQLCatalogRows.Table, _ primaryKey: [String], _ source: String
    ) throws(StorageError) -> CatalogKey {
        if primaryKey.count == 1, integers.contains([table.name, primaryKey[0]]) {
            if try rows.holdsKeys(source, primaryKey[0]) { return .column(primaryKey[0]) }
        }
        return .counted(by: primaryKey.isEmpty ? ["tableoid", "ctid"] : primaryKey)
    }

    private mutating func column(
        _ column: PostgreSQLCatalogRows.Column, _ table: PostgreSQLCatalogRows.Table
    ) throws(StorageError) -> CatalogColumn {
        let place = "\(table.name).\(column.name)"
        let read = PostgreSQLColumnType(oid: column.type, column: column.name, place: place)
        if read.isText, !column.isEnum {
            remarks.append("\(place) is read as the text of its values: the type \(column.typeName) is not supported")
        }
        if column.isDomain { remarks.append("the CHECK constraints of the domain of \(place) are left out") }
        var result = CatalogColumn(
            column.name, read.type, value: read.value, isOptional: !column.isRequired,
            maxLength: column.maxLength > 0 ? Int(column.maxLength) : nil,
            allowedValues: column.isEnum ? try rows.labels(column.type) : [],
            comparesBytes: !column.isFolded && (!read.isText || column.isEnum),
            stored: isInPlace ? PostgreSQLStoring.stored(column, place: place) : nil)
        if isInPlace, !column.isComputed, let literal = column.defaultValue.flatMap(CatalogDefault.literal) {
            result.defaultValue = try rows.value(literal, of: column, read)
        }
        return result
    }

    private mutating func add(
        _ reference: PostgreSQLCatalogRows.Reference, to table: inout CatalogTable, _ known: [String: CatalogTable], _ filtered: Set<String>
    ) throws(StorageError) {
        guard reference.schema == schema, let other = known[reference.table], ExactText(other.name) == ExactText(reference.table) else {
            remarks.append(
                "a foreign key of \(table.name) refers to \(reference.schema).\(reference.table), which is not a table that can be read")
            return
        }
        // The server does not examine the rows that an unvalidated constraint found, and a policy may hide rows that others refer to.
        let name = table.name, isTrusted = reference.isValidated && !filtered.contains(other.name)
        let key = CatalogForeignKey(
            columns: reference.columns, table: reference.table, references: reference.targets, deleteRule: reference.deleteRule,
            isTrusted: isTrusted, isTyped: reference.columns.allSatisfy { integers.contains([name, $0]) })
        if !isTrusted, case let missing = try rows.count(key.countOfMissing(table, other)), missing > 0 {
            remarks.append(key.remark(missing: missing, table))
        }
        table.foreignKeys.append(key)
    }
}
#endif
