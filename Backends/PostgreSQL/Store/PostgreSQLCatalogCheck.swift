#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The indexes, required columns and triggers that the tables of a store have, compared with those of its model.
struct PostgreSQLCatalogCheck {
    /// An index as the server describes it.
    struct Index {
        let name: String
        let table: String
        let definition: String
        let isPrimary: Bool
        /// Whether the server uses the index and keeps it up to date.
        let isValid: Bool
    }

    let indexes: [Index]
    private let reader: PostgreSQLReader
    /// Whether two versions of the model are in use, to which the tables, indexes and triggers belong together.
    private let isRolling: Bool

    init(_ reader: PostgreSQLReader) throws(StorageError) {
        self.reader = reader
        isRolling = try reader.connection.number("SELECT count(*) FROM polystore_metadata WHERE key LIKE 'next.%'") ?? 0 > 0
        let text: SQLText = """
            SELECT i.relname::text, t.relname::text, pg_get_indexdef(x.indexrelid), x.indisprimary::int::int8,
            (x.indisvalid AND x.indisready AND x.indislive)::int::int8
            FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid
            WHERE t.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = \(bind: .string(reader.core.schema), .string)) ORDER BY 1
            """
        indexes = try reader.connection.rows(text, [.string, .string, .string, .int64, .int64]).map { row in
            Index(
                name: row[0].text, table: row[1].text, definition: row[2].text, isPrimary: row[3].number != 0,
                isValid: row[4].number != 0)
        }
    }

    private var tables: SQLTables { reader.core.tables }

    /// Returns what is wrong with an index of the model; nil if it is as it should be.
    func fault(of index: SQLTables.IndexStatement) -> String? { fault(index.name, index.creation) }

    /// Returns what is wrong with the index of a link table by member; nil if it is as it should be.
    func fault(ofMemberIndex link: Int) -> String? { fault(tables.memberIndex(link), tables.createMemberIndex(link)) }

    private func fault(_ name: String, _ creation: String) -> String? {
        guard let found = indexes.first(where: { $0.name == name }) else { return "is missing" }
        if !found.isValid { return "is not kept up to date" }
        return isRolling || CatalogDefinition(found.definition).isIndex(of: creation) ? nil : "is not that of the model"
    }

    /// Returns what is wrong with the primary key of a table; nil if it is as it should be.
    func fault(ofPrimaryKeyOf table: String, _ columns: [String]) -> String? {
        guard let found = indexes.first(where: { $0.table == table && $0.isPrimary }) else { return "is missing" }
        if !found.isValid { return "is not kept up to date" }
        let creation = "CREATE UNIQUE INDEX i ON t(\(columns.map(SQLText.quoted).joined(separator: ", ")))"
        return CatalogDefinition(found.definition).isIndex(of: creation) ? nil : "is not that of the model"
    }

    /// Returns the indexes of the model's tables that the model does not have.
    func strangers() -> [Index] {
        if isRolling { return [] }
        let own = Set(tables.tableNames)
        let known = Set(tables.indexes().map(\.name) + tables.schema.links.indices.map { tables.memberIndex($0) })
        return indexes.filter { own.contains($0.table) && !$0.isPrimary && !known.contains($0.name) }
    }

    // MARK: Columns and triggers

    /// Passes what is wrong beside the indexes of the model to `body`.
    func remarks(_ body: (StoreDamage) throws(StorageError) -> Void) throws(StorageError) {
        if isRolling { return }
        for index in strangers() {
            let table = reader.modelName(ofTable: index.table)
            if SQLTables.isIndexName(index.name) {
                try body(StoreDamage(.indexes(table: table, unique: nil), "the model has no index \(index.name)"))
            } else {
                let sentence = "the index \(index.name) was made by another program, which can remove it (DROP INDEX)"
                try body(StoreDamage(.unmended(table: table), sentence))
            }
        }
        for (table, column) in try openColumns() {
            let name = reader.modelName(ofTable: table), isMended = isOwn(column) ? true : try !hasNull(table, [column])
            try body(
                StoreDamage(isMended ? .indexes(table: name, unique: nil) : .unmended(table: name), "the column \(column) accepts NULL"))
        }
        for fault in try triggerFaults() {
            let name = reader.modelName(ofTable: fault.table)
            try body(StoreDamage(fault.isMended ? .indexes(table: name, unique: nil) : .unmended(table: name), fault.sentence))
        }
    }

    /// Whether a repair gives a value to a column that has NULL.
    private func isOwn(_ column: String) -> Bool { column == "_version" || column == "rank" }

    /// Returns whether a row has NULL in one of some columns.
    func hasNull(_ table: String, _ columns: [String]) throws(StorageError) -> Bool {
        let condition = columns.map { "\(SQLText.quoted($0)) IS NULL" }.joined(separator: " OR ")
        let text: SQLText = "SELECT 1::int8 FROM \(raw: SQLText.quoted(table)) WHERE \(raw: condition) LIMIT 1"
        return try reader.connection.number(text) != nil
    }

    /// Returns the columns that accept NULL although the model requires a value.
    func openColumns() throws(StorageError) -> [(table: String, column: String)] {
        let own = Set(tables.tableNames)
        let text: SQLText = """
            SELECT t.relname::text, a.attname::text FROM pg_attribute a JOIN pg_class t ON t.oid = a.attrelid
            WHERE t.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = \(bind: .string(reader.core.schema), .string))
            AND t.relkind = 'r' AND a.attnum > 0 AND NOT a.attnotnull AND NOT a.attisdropped
            AND a.attname IN ('_id', '_entity', '_version', 'owner', 'rank', 'member') ORDER BY 1, 2
            """
        return try reader.connection.rows(text, [.string, .string]).map { ($0[0].text, $0[1].text) }.filter { table, column in
            guard own.contains(table), let found = reader.modelTable(table) else { return false }
            // An attribute can have the name of a column of a link table.
            return (found.link == nil) == column.hasPrefix("_")
        }
    }

    /// Returns what is wrong with the triggers of the store's tables.
    func triggerFaults() throws(StorageError) -> [(table: String, sentence: String, isMended: Bool)] {
        let own = Set(tables.tableNames + ["polystore_history"])
        // A store of an earlier version has no triggers until a program that may make them opens it.
        if try !PostgreSQLTelling(reader.connection, reader.core.schema).isMade() { return [] }
        let text: SQLText = """
            SELECT t.relname::text, COALESCE(g.tgname, '')::text, COALESCE(g.tgenabled, ' ')::text, COALESCE(g.tgtype, 0)::int8
            FROM pg_class t LEFT JOIN pg_trigger g ON g.tgrelid = t.oid AND NOT g.tgisinternal WHERE t.relkind = 'r'
            AND t.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = \(bind: .string(reader.core.schema), .string)) ORDER BY 1, 2
            """
        let rows = try reader.connection.rows(text, [.string, .string, .string, .int64]).filter { own.contains($0[0].text) }
        var faults: [(table: String, sentence: String, isMended: Bool)] = []
        for table in own.sorted() {
            let triggers = rows.filter { $0[0].text == table }
            if triggers.isEmpty { continue }
            if let found = triggers.first(where: { $0[1].text == PostgreSQLTelling.trigger }) {
                // https://www.postgresql.org/docs/current/catalog-pg-trigger.html: O and A fire in ordinary sessions.
                let isKept = ["O", "A"].contains(found[2].text) && found[3].number == PostgreSQLTelling.kind(of: table)
                if !isKept { faults.append((table, "the trigger \(PostgreSQLTelling.trigger) is disabled or another one", true)) }
            } else {
                faults.append((table, "the trigger \(PostgreSQLTelling.trigger) is missing", true))
            }
            for trigger in triggers where !trigger[1].text.isEmpty && trigger[1].text != PostgreSQLTelling.trigger {
                let sentence = "the trigger \(trigger[1].text) was made by another program, which can remove it (DROP TRIGGER)"
                faults.append((table, sentence, false))
            }
        }
        return faults
    }
}
#endif
