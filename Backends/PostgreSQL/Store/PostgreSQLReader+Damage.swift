#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

extension PostgreSQLReader {
    /// Compares the indexes, primary keys, required columns and triggers of the store with those of its model, and the rows that each
    /// ordered index finds with those of its table. The words of full-text indexes are not compared: the server does not read all entries
    /// of one.
    func damages(_ body: (StoreDamage) throws(StorageError) -> Void) throws(StorageError) {
        try checkOpen()
        let tables = core.tables
        var findings: [String: (String, StoreDamage.Part)] = [:]
        let catalog = try PostgreSQLCatalogCheck(self)
        for index in tables.indexes() {
            let table = tables.table(index.root), unique = index.constraint == nil ? nil : index.name
            let fault = catalog.fault(of: index)
            let isOther = index.keys.isEmpty ? false : try hasOtherRows(index.keys, table, index.rows, "\"_id\"", unless: fault)
            guard let fault = fault ?? (isOther ? "has other rows than the table" : nil) else { continue }
            findings[index.name] = ("the index \(index.name) \(fault)", .indexes(table: modelName(ofTable: table), unique: unique))
            _ = try without(Self.indexScans) { () throws(StorageError) in try duplicates(of: index, in: SQLText.quoted(table), body) }
        }
        for link in tables.schema.links.indices {
            let table = tables.table(link: link), name = tables.memberIndex(link), fault = catalog.fault(ofMemberIndex: link)
            let isOther = try hasOtherRows(["\"member\"", "\"owner\""], table, nil, "\"member\"", unless: fault)
            guard let fault = fault ?? (isOther ? "has other rows than the table" : nil) else { continue }
            findings[name] = ("the index \(name) \(fault)", .indexes(table: tables.schema.links[link].name, unique: nil))
        }
        for (_, finding) in findings.sorted(by: { $0.key < $1.key }) { try body(StoreDamage(finding.1, finding.0)) }
        for table in tables.tableNames { try checkKey(of: table, catalog, body) }
        try catalog.remarks(body)
        try rankless("\"rank\" IS NULL", body)
    }

    /// Returns whether an index finds other rows than a scan of its table.
    private func hasOtherRows(
        _ keys: [String], _ table: String, _ condition: String?, _ column: String, unless fault: String?
    ) throws(StorageError) -> Bool {
        if fault != nil { return false }
        let source = "\(SQLText.quoted(table))\(condition.map { " WHERE \($0)" } ?? "")"
        let rows = try digest(column, source, without: Self.indexScans)
        // Without sorting, only an index returns the rows in its order. OFFSET keeps the server from discarding that order.
        let ordered = "(SELECT \(column) FROM \(source) ORDER BY \(keys.joined(separator: ", ")) OFFSET 0) AS t"
        return try digest(column, ordered, without: ["seqscan", "sort", "incremental_sort", "bitmapscan"]) != rows
    }

    static let indexScans = ["indexscan", "indexonlyscan", "bitmapscan"]

    /// Runs work for which the server does not use some ways of reading rows.
    func without<Result>(
        _ ways: [String], _ work: () throws(StorageError) -> Result
    ) throws(StorageError) -> Result {
        for way in ways { try connection.execute("SET LOCAL enable_\(way) = off") }
        let result = try work()
        for way in ways { try connection.execute("SET LOCAL enable_\(way) = DEFAULT") }
        return result
    }

    /// Returns the number of rows and a digest of a column, computed without some ways of reading the rows.
    private func digest(_ column: String, _ source: String, without ways: [String]) throws(StorageError) -> [Value] {
        let text: SQLText = "SELECT count(*), COALESCE(sum(hashint8(\(raw: column))), 0)::int8 FROM \(raw: source)"
        return try without(ways) { () throws(StorageError) in try connection.rows(text, [.int64, .int64]).first ?? [] }
    }

    /// Returns the rows of a table that have the same primary key as another one, by the first column of the key.
    private func sharedKeys(of table: String, limit: String = "") throws(StorageError) -> [[Value]] {
        let key = keyColumns(of: table), columns = key.map(SQLText.quoted).joined(separator: ", ")
        let text: SQLText = """
            SELECT \(raw: SQLText.quoted(key[0])), count(*) FROM \(raw: SQLText.quoted(table)) GROUP BY \(raw: columns) HAVING count(*) > 1
            ORDER BY 1\(raw: limit)
            """
        return try without(Self.indexScans) { () throws(StorageError) in try connection.rows(text, [.int64, .int64]) }
    }

    func keyColumns(of table: String) -> [String] { modelTable(table)?.link == nil ? ["_id"] : ["owner", "member"] }

    /// Returns whether several rows of a table have the same primary key.
    func sharesKeys(_ table: String) throws(StorageError) -> Bool { try !sharedKeys(of: table, limit: " LIMIT 1").isEmpty }

    private func checkKey(
        of table: String, _ catalog: PostgreSQLCatalogCheck, _ body: (StoreDamage) throws(StorageError) -> Void
    ) throws(StorageError) {
        let columns = keyColumns(of: table), name = modelName(ofTable: table), fault = catalog.fault(ofPrimaryKeyOf: table, columns)
        let isOther = try hasOtherRows(columns.map(SQLText.quoted), table, nil, SQLText.quoted(columns[0]), unless: fault)
        guard let fault = fault ?? (isOther ? "has other rows than the table" : nil) else { return }
        let shared = try sharedKeys(of: table)
        for row in shared {
            guard let root = modelTable(table)?.root else { continue }
            try body(StoreDamage(.key(root, row[0].number), "\(row[1].number) rows have this key"))
        }
        let isPrevented = shared.isEmpty ? try catalog.hasNull(table, columns) : true
        let part: StoreDamage.Part = isPrevented ? .unmended(table: name) : .indexes(table: name, unique: nil)
        try body(StoreDamage(part, "the primary key \(fault)"))
    }
}
#endif
