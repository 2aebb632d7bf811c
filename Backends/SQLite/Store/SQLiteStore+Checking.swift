#if SQLite
internal import CSQLite
internal import PolystoreFoundation
internal import PolystoreSQL
public import PolystoreStorage

extension SQLiteStore: CheckedStorage {
    /// Checks the whole file: the structure of its pages, the types of columns, indexes against rows, and references against rows.
    ///
    /// Without checksums the check does not find a value that was replaced by another one of its type in a column without an index.
    public func check() throws(StorageError) {
        guard let session = try beginRead(ReadOptions()) as? SQLiteReader else { return }
        defer { session.end() }
        try session.checkPages()
        if isPolystore { try session.checkReferences() }
    }
}

extension SQLiteReader {
    /// Runs the engine's check.
    ///
    /// - Throws: `corrupted` with the first finding.
    fileprivate func checkPages() throws(StorageError) {
        try forEachFinding { finding throws(StorageError) in throw damaged(finding) }
    }

    /// Passes the findings of the engine's check to `body`: https://sqlite.org/pragma.html#pragma_integrity_check
    ///
    /// In tables without row IDs whose columns are not in the order of the key, SQLite 3.40 finds NULLs where there are none. All findings
    /// are therefore read, and those are verified.
    func forEachFinding(_ body: (String) throws(StorageError) -> Void) throws(StorageError) {
        let statement = try SQLiteStatement("PRAGMA main.integrity_check(\(Int32.max))", connection), null = "NULL value in "
        var isChecked = false, withoutNull: Set<String> = []
        while try statement.step(), let text = sqlite3_column_text(statement.handle, 0) {
            isChecked = true
            let finding = String(cString: text)
            if finding == "ok" || withoutNull.contains(finding) { continue }
            if finding.hasPrefix(null), try !holdsNull(String(finding.dropFirst(null.count))) {
                withoutNull.insert(finding)
            } else {
                try body(finding)
            }
        }
        if !isChecked { throw damaged("the integrity check returned no result") }
    }

    /// Whether a column, as `table.column`, contains a NULL. The engine does not evaluate `IS NULL` for a column that is NOT NULL. Virtual
    /// tables have no page; asking for their columns fails where they are damaged.
    private func holdsNull(_ place: String) throws(StorageError) -> Bool {
        let columns: SQLText = """
            SELECT m.name, x.name FROM main.sqlite_master AS m, pragma_table_xinfo(m.name, 'main') AS x
            WHERE m.type = 'table' AND m.rootpage > 0 AND m.name || '.' || x.name = \(bind: .string(place), .string)
            """
        guard let names = try connection.rows(columns, [.string, .string]).first else { return true }
        let (table, column) = (names[0].text, names[1].text)
        return try connection.number(
            "SELECT count(*) FROM main.\(identifier: table) AS t NOT INDEXED WHERE typeof(t.\(identifier: column)) = 'null'") != 0
    }

    /// Compares the references of relationships with the rows.
    fileprivate func checkReferences() throws(StorageError) {
        let tables = core.tables
        for index in tables.schema.links.indices {
            let link = tables.schema.links[index], table = tables.table(link: index)
            try checkReference(table, "owner", link.owner)
            try checkReference(table, "member", link.member)
        }
        for description in tables.schema.descriptions {
            for (slot, content) in description.slots.enumerated() where content.declaredIn == description.index {
                guard let destination = content.destination else { continue }
                try checkReference(tables.table(description.index), tables.column(description.index, slot), destination)
            }
        }
    }

    private func checkReference(_ table: String, _ column: String, _ entity: EntityIndex) throws(StorageError) {
        let key = "l." + SQLText.quoted(column), rows = SQLText.quoted(core.tables.table(entity))
        let missing =
            "SELECT 1 FROM \(SQLText.quoted(table)) AS l WHERE \(key) IS NOT NULL "
            + "AND NOT EXISTS (SELECT 1 FROM \(rows) AS r WHERE r.\"_id\" = \(key)) LIMIT 1"
        if try connection.integer(missing) != nil {
            throw damaged("a relationship refers to a missing row of \(core.tables.schema.entities[entity].name)")
        }
    }

    private func damaged(_ what: String) -> StorageError {
        StorageError(.corrupted, "the database is damaged; restore it from a backup: \(what)")
    }
}
#endif
