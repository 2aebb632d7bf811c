#if SQLite
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

extension SQLiteReader {
    func damages(_ body: (StoreDamage) throws(StorageError) -> Void) throws(StorageError) {
        try checkOpen()
        var indexes = try catalogFindings()
        try engineFindings(&indexes, body)
        for index in core.tables.indexes() where index.isTable && indexes[index.name] == nil {
            if let sentence = try wordFinding(index) { indexes[index.name] = sentence }
        }
        for index in core.tables.indexes() where index.constraint != nil && indexes[index.name] != nil {
            try duplicates(of: index, in: Self.rows(of: core.tables.table(index.root)), body)
        }
        for (name, sentence) in indexes.sorted(by: { $0.key < $1.key }) { try body(StoreDamage(try part(ofIndex: name), sentence)) }
        try strangers(body)
        // The engine regards a NULL in a column that accepts none as impossible.
        try rankless("typeof(\"rank\") = 'null'", body)
    }

    /// Returns a table as SQL, so that the engine reads its rows instead of an index.
    static func rows(of table: String) -> String { "main.\(SQLText.quoted(table)) NOT INDEXED" }

    /// Passes the findings of the engine's check that do not concern an index to `body`, and adds the others to `indexes` by their names.
    private func engineFindings(
        _ indexes: inout [String: String], _ body: (StoreDamage) throws(StorageError) -> Void
    ) throws(StorageError) {
        var entries: [String: Int] = [:], found: [String: String] = [:]
        // The versions and ranks of rows are compared on their own.
        let reported = reportedColumns
        do throws(StorageError) {
            try forEachFinding { finding throws(StorageError) in
                if reported.contains(finding) { return }
                if let (index, sentence) = Self.index(in: finding) {
                    entries[index, default: 0] += finding.hasPrefix("row ") ? 1 : 0
                    found[index] = sentence
                } else {
                    // The findings of the pages are lines after a heading.
                    for line in finding.split(separator: "\n") where !line.hasPrefix("***") { try body(StoreDamage(.file, String(line))) }
                }
            }
        } catch  where error.code == .corrupted {
            try body(StoreDamage(.file, error.message))
        }
        for (index, sentence) in found where indexes[index] == nil {
            let missing = entries[index] ?? 0
            indexes[index] = "the index \(index) \(missing > 0 ? "lacks entries of rows: \(missing)" : sentence)"
        }
    }

    private var reportedColumns: Set<String> {
        let tables = core.tables
        return Set(
            tables.schema.roots.map { "NULL value in \(tables.table($0))._version" }
                + tables.schema.links.indices.map { "NULL value in \(tables.table(link: $0)).rank" })
    }

    /// Returns the index that a finding of the engine concerns, and what is wrong with it; nil for other findings.
    private static func index(in finding: String) -> (String, String)? {
        func rest(after text: String) -> String? { finding.firstRange(of: text).map { String(finding[$0.upperBound...]) } }
        let others = "has other entries than the table has rows"
        if finding.hasPrefix("row "), let index = rest(after: " missing from index ") { return (index, others) }
        if finding.hasPrefix("wrong # of entries in index "), let index = rest(after: " in index ") { return (index, others) }
        if finding.hasPrefix("non-unique entry in index "), let index = rest(after: " in index ") {
            return (index, "has several entries for the same values")
        }
        // Later versions of the engine also check full-text indexes.
        guard let index = rest(after: " FTS5 table ") else { return nil }
        let name = index.hasPrefix("main.") ? String(index.dropFirst(5)) : index
        return (String(name.prefix { $0 != "\n" }), "is damaged")
    }

    private func part(ofIndex name: String) throws(StorageError) -> StoreDamage.Part {
        let tables = core.tables
        if let index = tables.indexes().first(where: { $0.name == name }) {
            return .indexes(table: modelName(ofTable: tables.table(index.root)), unique: index.constraint == nil ? nil : name)
        }
        if let link = tables.schema.links.indices.first(where: { tables.memberIndex($0) == name }) {
            return .indexes(table: tables.schema.links[link].name, unique: nil)
        }
        // An index of another program's table, which Polystore can only let the engine build again.
        let text: SQLText = """
            SELECT m.tbl_name, l."unique" FROM main.sqlite_master AS m, pragma_index_list(m.tbl_name, 'main') AS l
            WHERE m.type = 'index' AND m.name = l.name AND m.name = \(bind: .string(name), .string)
            """
        guard let row = try connection.rows(text, [.string, .int64]).first else { return .unmended(table: nil) }
        return row[1].number == 0 ? .indexes(table: modelName(ofTable: row[0].text), unique: nil) : .unmended(table: row[0].text)
    }

    // MARK: Definitions

    /// The statements by which the engine describes its indexes, triggers and virtual tables, by their names.
    private func definitions() throws(StorageError) -> [String: String] {
        try connection.entries("SELECT name, COALESCE(sql, '') FROM main.sqlite_master")
    }

    /// Compares the indexes and triggers of the store with those of its model. Returns what is wrong with an index by its name.
    private func catalogFindings() throws(StorageError) -> [String: String] {
        let present = try definitions(), tables = core.tables
        var findings: [String: String] = [:]
        func compare(_ name: String, _ kind: String, of index: String, _ creation: String) {
            guard let sql = present[name] else {
                findings[index] = "the \(kind) \(name) is missing"
                return
            }
            if !CatalogDefinition(sql).isPart(of: creation) { findings[index] = "the \(kind) \(name) is not that of the model" }
        }
        for index in tables.indexes() {
            for trigger in index.triggers { compare(trigger, "trigger", of: index.name, index.creation) }
            compare(index.name, "index", of: index.name, index.creation)
        }
        for link in tables.schema.links.indices {
            compare(tables.memberIndex(link), "index", of: tables.memberIndex(link), tables.createMemberIndex(link))
        }
        return findings
    }

    /// Passes the indexes and triggers of the model's tables that the model does not have to `body`.
    private func strangers(_ body: (StoreDamage) throws(StorageError) -> Void) throws(StorageError) {
        for (kind, name, table) in try strangeDefinitions() {
            if SQLTables.isIndexName(name) {
                let part = StoreDamage.Part.indexes(table: modelName(ofTable: table), unique: nil)
                try body(StoreDamage(part, "the model has no \(kind) \(name)"))
            } else {
                let sentence = "the \(kind) \(name) was made by another program, which can remove it (DROP \(kind.uppercased()))"
                try body(StoreDamage(.unmended(table: modelName(ofTable: table)), sentence))
            }
        }
    }

    /// Returns the indexes and triggers of the model's tables that the model does not have, with their tables.
    func strangeDefinitions() throws(StorageError) -> [(kind: String, name: String, table: String)] {
        let tables = core.tables, own = Set(tables.tableNames)
        let known = Set(
            tables.indexes().flatMap { [$0.name] + $0.triggers } + tables.schema.links.indices.map { tables.memberIndex($0) })
        let text: SQLText = """
            SELECT type, name, tbl_name FROM main.sqlite_master WHERE type IN ('index', 'trigger') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
            ORDER BY name
            """
        return try connection.rows(text, [.string, .string, .string]).map { ($0[0].text, $0[1].text, $0[2].text) }.filter {
            own.contains($0.2) && !known.contains($0.1)
        }
    }
}
#endif
