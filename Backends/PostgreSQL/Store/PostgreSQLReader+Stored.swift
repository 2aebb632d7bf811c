#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

extension PostgreSQLReader: StoredFormReader {
    private static let form = SQLStoredForm(
        type: { "format_type(pg_typeof(\($0))::oid, NULL)" },
        bytes: { name, isData in isData ? name : "convert_to(\(name)::text, 'UTF8')" })

    func storedRow(_ root: EntityIndex, key: Int64) throws(StorageError) -> [StoredColumn] {
        try storedRow(root, key: key, Self.form)
    }

    func storedEntries(after position: Int64, limit: Int) throws(StorageError) -> [StoredEntry] {
        try storedEntries(after: position, limit: limit, Self.form)
    }

    /// Compares the rows that each ordered index finds with those of its table. Full-text indexes are not compared: the server does not
    /// read all rows through one.
    func damages(_ body: (StoreDamage) throws(StorageError) -> Void) throws(StorageError) {
        try checkOpen()
        let tables = core.tables
        for root in tables.schema.roots {
            let table = tables.table(root)
            try checkIndex("\(table) (primary key)", table, ["\"_id\""], nil, "\"_id\"", body)
            for index in tables.indexes() where index.root == root && !index.keys.isEmpty {
                try checkIndex(index.name, table, index.keys, index.rows, "\"_id\"", body)
            }
        }
        for link in tables.schema.links.indices {
            let table = tables.table(link: link)
            try checkIndex("\(table) (primary key)", table, ["\"owner\"", "\"member\""], nil, "\"owner\"", body)
            try checkIndex(tables.memberIndex(link), table, ["\"member\"", "\"owner\""], nil, "\"member\"", body)
        }
    }

    private func checkIndex(
        _ name: String, _ table: String, _ keys: [String], _ condition: String?, _ column: String,
        _ body: (StoreDamage) throws(StorageError) -> Void
    ) throws(StorageError) {
        let source = "\(SQLText.quoted(table))\(condition.map { " WHERE \($0)" } ?? "")"
        let rows = try digest(column, source, without: ["indexscan", "indexonlyscan", "bitmapscan"])
        // Without sorting, only an index returns the rows in its order. OFFSET keeps the server from discarding that order.
        let ordered = "(SELECT \(column) FROM \(source) ORDER BY \(keys.joined(separator: ", ")) OFFSET 0) AS t"
        if try digest(column, ordered, without: ["seqscan", "sort", "incremental_sort", "bitmapscan"]) != rows {
            try body(StoreDamage(indexedTable: modelName(ofTable: table), "the index \(name) has other rows than the table"))
        }
    }

    /// Returns the number of rows and a digest of a column, computed without some ways of reading the rows.
    private func digest(_ column: String, _ source: String, without ways: [String]) throws(StorageError) -> [Value] {
        for way in ways { try connection.execute("SET LOCAL enable_\(way) = off") }
        let text: SQLText = "SELECT count(*), COALESCE(sum(hashint8(\(raw: column))), 0)::int8 FROM \(raw: source)"
        let row = try connection.rows(text, [.int64, .int64]).first ?? []
        for way in ways { try connection.execute("SET LOCAL enable_\(way) = DEFAULT") }
        return row
    }
}
#endif
