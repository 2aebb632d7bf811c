internal import PolystoreFoundation
package import PolystoreStorage

extension SQLSession {
    package func storedKeys(_ root: EntityIndex, after key: Int64?, limit: Int) throws(StorageError) -> [Int64] {
        try checkOpen()
        let table: SQLText = "\(identifier: core.tables.table(root))"
        let start: SQLText = key.map { " WHERE \"_id\" > \(bind: .int($0), .int64)" } ?? ""
        let text: SQLText = "SELECT \"_id\" FROM \(table)\(start) ORDER BY \"_id\" LIMIT \(bind: .int(Int64(limit)), .int64)"
        return try connection.rows(text, [.int64]).map { $0[0].number }
    }

    /// Returns the columns of a row, or none if there is no row with the key.
    package func storedRow(_ root: EntityIndex, key: Int64, _ form: SQLStoredForm) throws(StorageError) -> [StoredColumn] {
        try checkOpen()
        let tables = core.tables
        var columns: [(name: String, isData: Bool)] = tables.schema[root].isHierarchy ? [("_entity", false)] : []
        columns.append(("_version", false))
        for (index, column) in tables.schema[root].columns.enumerated() {
            columns.append((tables.column(root: root, index), column.type == .data))
        }
        let table = SQLText.quoted(tables.table(root))
        var found: [StoredColumn] = []
        // Engines limit the number of values in a row.
        for start in stride(from: 0, to: columns.count, by: 400) {
            let part = Array(columns[start..<min(start + 400, columns.count)])
            let values = part.flatMap { column in
                let name = SQLText.quoted(column.name)
                return [form.type(name), form.bytes(name, column.isData)]
            }.joined(separator: ", ")
            let text: SQLText = "SELECT \(raw: values) FROM \(raw: table) WHERE \"_id\" = \(bind: .int(key), .int64)"
            guard let row = try connection.rows(text, part.flatMap { _ in [.string, .data] }).first else { return [] }
            found += part.indices.map { self.column($0, part[$0].name, row) }
        }
        return found
    }

    private func column(_ index: Int, _ name: String, _ row: [Value]) -> StoredColumn {
        var bytes: [UInt8]?
        if case .data(let data) = row[2 * index + 1] { bytes = Array(data) }
        return StoredColumn(name: name, type: row[2 * index].text, bytes: bytes)
    }

    /// Returns history entries by their columns.
    package func storedEntries(
        after position: Int64, limit: Int, _ form: SQLStoredForm
    ) throws(StorageError) -> [StoredEntry] {
        try checkOpen()
        let names = ["time", "author", "changes"]
        let values = names.flatMap { [form.type($0), form.bytes($0, $0 == "changes")] }.joined(separator: ", ")
        let text: SQLText = """
            SELECT position, \(raw: values) FROM polystore_history WHERE position > \(bind: .int(position), .int64) \
            ORDER BY position LIMIT \(bind: .int(Int64(limit)), .int64)
            """
        return try connection.rows(text, [.int64] + names.flatMap { _ in [.string, .data] }).map { row in
            let parts = Array(row.dropFirst())
            return StoredEntry(position: row[0].number, columns: names.indices.map { column($0, names[$0], parts) })
        }
    }

    /// Returns the name under which the model knows a table of the store: of the root entity or the link table; else the table's own name.
    package func modelName(ofTable table: String) -> String {
        let tables = core.tables
        if let root = tables.schema.roots.first(where: { tables.table($0) == table }) { return tables.schema.entities[root].name }
        return tables.schema.links.indices.first { tables.table(link: $0) == table }.map { tables.schema.links[$0].name } ?? table
    }

    /// Returns the name of the table that the model knows under a name; the opposite of `modelName(ofTable:)`.
    package func table(named name: String) -> String {
        let tables = core.tables
        if let root = tables.schema.roots.first(where: { tables.schema.entities[$0].name == name }) { return tables.table(root) }
        return tables.schema.links.firstIndex { $0.name == name }.map { tables.table(link: $0) } ?? name
    }
}

extension SQLTableWriter {
    package func removeUnreadableRow(_ root: EntityIndex, key: Int64) throws(StorageError) {
        try checkOpen()
        try delete(root, [RowDeletion(key: key)])
        try flush()
    }
}
