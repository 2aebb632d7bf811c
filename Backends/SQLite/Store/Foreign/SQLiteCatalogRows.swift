#if SQLite
internal import PolystoreSQL
internal import PolystoreStorage

/// A row-by-row reader of SQLite's catalog of a file (https://sqlite.org/pragma.html).
struct SQLiteCatalogRows {
    struct Table {
        let name: String
        /// `table`, `view`, `virtual` or `shadow`.
        let type: String
        let isWithoutRowID: Bool
        let isStrict: Bool
    }

    struct Column {
        let name: String
        let type: String
        let isRequired: Bool
        /// The position in the primary key, counted from 1; 0 for none.
        let position: Int64
        /// The SQL of the value of a row that omits the column; nil for none.
        let defaultValue: String?
        /// Whether the engine computes the column.
        let isComputed: Bool
    }

    struct Reference {
        var columns: [String] = []
        let table: String
        /// The referenced columns; empty for the primary key.
        var targets: [String] = []
        let deleteRule: DeleteRule
    }

    private let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) { self.connection = connection }

    /// Returns the number that a statement counts.
    func count(_ text: SQLText) throws(StorageError) -> Int64 { try connection.number(text) ?? 0 }

    /// Returns the tables, except for Polystore's own tables in a file that is used in place.
    func tables() throws(StorageError) -> [Table] {
        let text: SQLText = """
            SELECT name, type, wr, strict FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
            """
        let found = try connection.rows(text, [.string, .string, .bool, .bool]).map { row in
            Table(name: row[0].text, type: row[1].text, isWithoutRowID: row[2] == .bool(true), isStrict: row[3] == .bool(true))
        }
        let isInPlace = found.contains { $0.name == "polystore_inplace" }
        return isInPlace ? found.filter { !$0.name.hasPrefix("polystore_") } : found
    }

    /// Returns the columns, including computed ones but not the hidden columns of virtual tables.
    func columns(_ table: String) throws(StorageError) -> [Column] {
        let text: SQLText =
            """
            SELECT name, type, "notnull", pk, dflt_value, hidden > 1
            FROM pragma_table_xinfo(\(bind: .string(table), .string), 'main') WHERE hidden <> 1 ORDER BY cid
            """
        return try connection.rows(text, [.string, .string, .bool, .int64, .string, .bool]).map { row in
            Column(
                name: row[0].text, type: row[1].text, isRequired: row[2] == .bool(true), position: row[3].number,
                defaultValue: row[4].isNull ? nil : row[4].text, isComputed: row[5] == .bool(true))
        }
    }

    /// Returns the statement that created a table.
    func statement(_ table: String) throws(StorageError) -> String {
        let text: SQLText = "SELECT sql FROM main.sqlite_master WHERE type = 'table' AND name = \(bind: .string(table), .string)"
        return try connection.rows(text, [.string]).first?.first?.text ?? ""
    }

    /// Returns the unique indexes. The columns are nil for an index that does not cover every row or has terms other than columns.
    func uniqueIndexes(_ table: String) throws(StorageError) -> [(name: String, columns: [String]?, hasExpressions: Bool)] {
        let list: SQLText =
            "SELECT name, partial FROM pragma_index_list(\(bind: .string(table), .string), 'main') WHERE \"unique\" AND origin <> 'pk' ORDER BY name"
        var result: [(name: String, columns: [String]?, hasExpressions: Bool)] = []
        for index in try connection.rows(list, [.string, .bool]) {
            let parts: SQLText = "SELECT name FROM pragma_index_info(\(bind: .string(index[0].text), .string), 'main') ORDER BY seqno"
            let names = try connection.rows(parts, [.string]).map { $0[0] }
            let hasExpressions = names.contains(where: \.isNull), isPlain = index[1] == .bool(false) && !hasExpressions
            result.append((index[0].text, isPlain ? names.map(\.text) : nil, hasExpressions))
        }
        return result
    }

    /// Returns the indexes that are not unique.
    func otherIndexes(_ table: String) throws(StorageError) -> [CatalogIndex] {
        let list: SQLText =
            "SELECT name, partial FROM pragma_index_list(\(bind: .string(table), .string), 'main') WHERE NOT \"unique\" ORDER BY name"
        var result: [CatalogIndex] = []
        for row in try connection.rows(list, [.string, .bool]) {
            var index = CatalogIndex(row[0].text, obstacle: row[1] == .bool(true) ? "is partial" : nil)
            for column in try columns(ofIndex: index.name) {
                if column[0].isNull {
                    index.obstacle = "is over expressions"
                } else if column[1].text.uppercased() != "BINARY" {
                    index.obstacle = "compares texts by the collation \(column[1].text)"
                } else {
                    index.columns.append(column[0].text)
                }
            }
            result.append(index)
        }
        return result
    }

    /// Returns the columns of an index with their collations. The column of an expression is nil.
    private func columns(ofIndex name: String) throws(StorageError) -> [[Value]] {
        let parts: SQLText =
            "SELECT name, coll FROM pragma_index_xinfo(\(bind: .string(name), .string), 'main') WHERE \"key\" ORDER BY seqno"
        return try connection.rows(parts, [.string, .string])
    }

    /// Returns the column sets of unique indexes, partial ones included, with the collation of each column. Indexes over expressions are
    /// left out.
    func uniqueColumns(_ table: String) throws(StorageError) -> [[(column: String, collation: String)]] {
        let list: SQLText = """
            SELECT name FROM pragma_index_list(\(bind: .string(table), .string), 'main') WHERE "unique" AND origin <> 'pk' ORDER BY name
            """
        var result: [[(column: String, collation: String)]] = []
        for index in try connection.rows(list, [.string]) {
            let columns = try columns(ofIndex: index[0].text)
            if columns.allSatisfy({ !$0[0].isNull }) { result.append(columns.map { ($0[0].text, $0[1].text) }) }
        }
        return result
    }

    /// Returns whether the primary key has an index of its own, in which case it is not the row ID.
    func hasKeyIndex(_ table: String) throws(StorageError) -> Bool {
        try connection.number("SELECT count(*) FROM pragma_index_list(\(bind: .string(table), .string), 'main') WHERE origin = 'pk'") != 0
    }

    func references(_ table: String) throws(StorageError) -> [Reference] {
        let text: SQLText = """
            SELECT id, "table", "from", "to", on_delete FROM pragma_foreign_key_list(\(bind: .string(table), .string), 'main') ORDER BY id DESC, seq
            """
        var result: [Reference] = [], last: Value?
        for row in try connection.rows(text, [.int64, .string, .string, .string, .string]) {
            if row[0] != last { result.append(Reference(table: row[1].text, deleteRule: Self.deleteRule(row[4].text))) }
            last = row[0]
            result[result.count - 1].columns.append(row[2].text)
            if !row[3].isNull { result[result.count - 1].targets.append(row[3].text) }
        }
        return result
    }

    private static func deleteRule(_ text: String) -> DeleteRule {
        switch text {
        case "CASCADE": .cascade
        case "SET NULL", "SET DEFAULT": .nullify
        default: .deny
        }
    }

    // MARK: Values

    /// Returns whether a column contains only integers.
    func holdsOnlyIntegers(_ table: String, _ column: String) throws(StorageError) -> Bool {
        try connection.number("SELECT count(*) FROM main.\(identifier: table) AS t WHERE typeof(t.\(identifier: column)) <> 'integer'") == 0
    }

    /// Returns whether a column contains a value of more than some bytes.
    func holdsLong(_ table: String, _ column: String, _ bytes: Int) throws(StorageError) -> Bool {
        let isLong: SQLText = "length(CAST(t.\(identifier: column) AS BLOB)) > \(bind: .int(Int64(bytes)), .int64)"
        return try connection.number("SELECT EXISTS (SELECT 1 FROM main.\(identifier: table) AS t WHERE \(isLong))") == 1
    }

    /// Returns whether a column contains a NULL.
    func holdsNull(_ table: String, _ column: String) throws(StorageError) -> Bool {
        try connection.number("SELECT count(*) FROM main.\(identifier: table) AS t WHERE t.\(identifier: column) IS NULL") != 0
    }

    /// Returns whether the numbers of a column can be keys.
    func holdsKeys(_ table: String, _ column: String) throws(StorageError) -> Bool {
        let source: SQLText = "FROM main.\(identifier: table) AS t", most = CatalogKey.greatest
        // Two statements, because an index gives one end directly, but not both in one statement.
        let greatest = try connection.number("SELECT max(t.\(identifier: column)) \(source)") ?? 0
        let least = try connection.number("SELECT min(t.\(identifier: column)) \(source)") ?? 0
        return greatest <= most && least >= -most
    }

    /// Returns the type of all values of a column, or nil when they have several types.
    func typeOfValues(_ table: String, _ column: String) throws(StorageError) -> ValueType? {
        let text: SQLText = """
            SELECT DISTINCT typeof(t.\(identifier: column)) FROM main.\(identifier: table) AS t WHERE t.\(identifier: column) IS NOT NULL
            """
        switch Set(try connection.rows(text, [.string]).map { $0[0].text }) {
        case ["integer"]: return .int64
        case ["real"], ["integer", "real"]: return .double
        case ["text"], []: return .string
        case ["blob"]: return .data
        default: return nil
        }
    }

    /// Returns the value of a literal in the form of a column, or nil if it has none.
    func value(_ literal: String, of column: String, _ form: SQLiteForm) throws(StorageError) -> Value? {
        let text: SQLText = "SELECT \(raw: form.call(column, place: column)) FROM (SELECT \(raw: literal) AS \(identifier: column)) AS t"
        do throws(StorageError) {
            return try connection.rows(text, [form.type]).first?.first.flatMap { $0.isNull ? nil : $0 }
        } catch  where error.code == .valueNotStorable {
            return nil
        }
    }

    /// Returns the number of dates of a column with parts of a microsecond, as texts or as seconds.
    func fineDates(_ table: String, _ column: String) throws(StorageError) -> Int64 {
        let digits = String(repeating: "[0-9]", count: 7), days = SQLiteForm.julianDays
        let value: SQLText = "t.\(identifier: column)"
        // The length excludes nearly all texts, and takes a sixth of the time of the pattern. The shortest one is
        // 2020-01-31 10:00:00.0000001.
        let text: SQLText = """
            SELECT count(*) FROM main.\(identifier: table) AS t
            WHERE (length(\(value)) > 26 AND typeof(\(value)) = 'text' AND \(value) GLOB '*.\(raw: digits)*'
                    AND ltrim(substr(\(value), instr(\(value), '.') + 7), '0') GLOB '[1-9]*')
                OR (typeof(\(value)) = 'real' AND \(value) <> round(\(value), 6)
                    AND NOT \(value) BETWEEN \(raw: "\(days.lowerBound)") AND \(raw: "\(days.upperBound)"))
            """
        return try connection.number(text) ?? 0
    }

    /// Returns the `typeof` of the column's value in the newest row that has one.
    func newestForm(_ table: String, _ column: String, key: String) throws(StorageError) -> String? {
        let text: SQLText = """
            SELECT typeof(t.\(identifier: column)) FROM main.\(identifier: table) AS t WHERE t.\(identifier: column) IS NOT NULL
            ORDER BY t.\(identifier: key) DESC LIMIT 1
            """
        return try connection.rows(text, [.string]).first?[0].text
    }
}
#endif
