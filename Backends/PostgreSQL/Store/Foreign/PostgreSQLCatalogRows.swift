#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// A row-by-row reader of the server's catalog of a schema (https://www.postgresql.org/docs/current/catalogs.html).
struct PostgreSQLCatalogRows {
    struct Table {
        let oid: Int64
        let name: String
        /// The letter of `pg_class.relkind`.
        let kind: String
        /// Whether row security determines which of its rows the role can see.
        let isFiltered: Bool
    }

    struct Column {
        let name: String
        let isRequired: Bool
        /// The type, with domains resolved.
        let type: Int64
        /// The name of the type in SQL.
        let typeName: String
        /// The maximum number of characters; 0 for no limit.
        let maxLength: Int64
        /// Whether the type is an enumeration.
        let isEnum: Bool
        /// Whether the type is a domain, which may have check conditions of its own.
        let isDomain: Bool
        /// Whether the server computes the value, regardless of the statement.
        let isComputed: Bool
        /// Whether the server considers texts of different bytes equal.
        let isFolded: Bool
        /// The SQL of the value of a row that omits the column; nil for none.
        let defaultValue: String?
    }

    struct Key {
        var columns: [String] = []
        let isPrimary: Bool
    }

    struct Reference {
        var columns: [String] = []
        var targets: [String] = []
        let schema: String
        let table: String
        let deleteRule: DeleteRule
        let isValidated: Bool
    }

    let connection: PostgreSQLConnection

    init(_ connection: PostgreSQLConnection) { self.connection = connection }

    /// Returns the number that a statement counts.
    func count(_ text: SQLText) throws(StorageError) -> Int64 {
        guard case .int(let number)? = try connection.rows(text, [.int64]).first?.first else { return 0 }
        return number
    }

    /// Returns the tables and other relations with columns, without the partitions of partitioned tables; nil when there is no such schema.
    ///
    /// Partitions of the tables of other schemas are included unless the schema is used in place: nothing else reads their rows.
    func tables(_ schema: String, isInPlace: Bool) throws(StorageError) -> [Table]? {
        let known: SQLText = "SELECT 1::int8 FROM pg_namespace WHERE nspname = \(bind: .string(schema), .string)"
        if try connection.rows(known, [.int64]).isEmpty { return nil }
        let foreign: SQLText = """
            NOT EXISTS (SELECT 1 FROM pg_partition_ancestors(c.oid) AS a JOIN pg_class p ON p.oid = a.relid
                WHERE p.oid <> c.oid AND p.relnamespace = c.relnamespace)
            """
        let text: SQLText = """
            SELECT c.oid::int8, c.relname::text, c.relkind::text, row_security_active(c.oid) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = \(bind: .string(schema), .string) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') AND (NOT c.relispartition OR \(isInPlace ? "false" : foreign))
            ORDER BY c.relname COLLATE "C"
            """
        let found = try connection.rows(text, [.int64, .string, .string, .bool]).map { row in
            Table(oid: row[0].number, name: row[1].text, kind: row[2].text, isFiltered: row[3] == .bool(true))
        }
        // Polystore's own tables in a schema that is used in place are left out.
        let isInPlace = found.contains { $0.name == "polystore_inplace" }
        return isInPlace ? found.filter { !$0.name.hasPrefix("polystore_") } : found
    }

    func columns(_ table: Int64) throws(StorageError) -> [Column] {
        let text: SQLText = """
            SELECT a.attname::text, a.attnotnull, b.oid::int8, format_type(a.atttypid, a.atttypmod)::text,
                CASE WHEN b.oid IN (1042, 1043) THEN greatest(greatest(a.atttypmod, b.typmod) - 4, 0) ELSE 0 END::int8,
                e.typtype = 'e', d.typtype = 'd', a.attgenerated <> '' OR a.attidentity = 'a',
                EXISTS (SELECT 1 FROM pg_collation n WHERE n.oid = a.attcollation AND NOT n.collisdeterministic),
                (SELECT pg_get_expr(v.adbin, v.adrelid) FROM pg_attrdef v WHERE v.adrelid = a.attrelid AND v.adnum = a.attnum)::text
            FROM pg_attribute a JOIN pg_type d ON d.oid = a.atttypid
            CROSS JOIN LATERAL (
                WITH RECURSIVE base(oid, parent, typmod, depth) AS (
                    SELECT d.oid, d.typbasetype, d.typtypmod, 0
                    UNION ALL SELECT p.oid, p.typbasetype, greatest(base.typmod, p.typtypmod), depth + 1
                    FROM base JOIN pg_type p ON p.oid = base.parent)
                SELECT oid, typmod FROM base ORDER BY depth DESC LIMIT 1) b
            JOIN pg_type e ON e.oid = b.oid
            WHERE a.attrelid = \(bind: .int(table), .int64)::oid AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
            """
        return try connection.rows(text, [.string, .bool, .int64, .string, .int64, .bool, .bool, .bool, .bool, .string]).map { row in
            Column(
                name: row[0].text, isRequired: row[1] == .bool(true), type: row[2].number, typeName: row[3].text, maxLength: row[4].number,
                isEnum: row[5] == .bool(true), isDomain: row[6] == .bool(true), isComputed: row[7] == .bool(true),
                isFolded: row[8] == .bool(true), defaultValue: row[9].isNull ? nil : row[9].text)
        }
    }

    func labels(_ type: Int64) throws(StorageError) -> [String] {
        let text: SQLText =
            "SELECT enumlabel::text FROM pg_enum WHERE enumtypid = \(bind: .int(type), .int64)::oid ORDER BY enumsortorder"
        return try connection.rows(text, [.string]).map { $0[0].text }
    }

    /// Returns the columns of the unique indexes that cover every row by columns alone.
    func keys(_ table: Int64) throws(StorageError) -> [Key] {
        let text: SQLText = """
            SELECT i.indexrelid::int8, i.indisprimary, a.attname::text FROM pg_index i
            CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attribute, place)
            JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attribute
            WHERE i.indrelid = \(bind: .int(table), .int64)::oid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL
                AND i.indexprs IS NULL AND k.place <= i.indnkeyatts
            ORDER BY i.indexrelid, k.place
            """
        var result: [Key] = [], last: Value?
        for row in try connection.rows(text, [.int64, .bool, .string]) {
            if row[0] != last { result.append(Key(isPrimary: row[1] == .bool(true))) }
            last = row[0]
            result[result.count - 1].columns.append(row[2].text)
        }
        return result
    }

    /// Returns the indexes that are not unique. An ordered index supports the searches of one over hash values.
    func otherIndexes(_ table: Int64) throws(StorageError) -> [CatalogIndex] {
        let text: SQLText = """
            SELECT c.relname::text, a.attname::text, CASE WHEN i.indexprs IS NOT NULL THEN 'is over expressions'
                WHEN i.indpred IS NOT NULL THEN 'is partial'
                WHEN m.amname NOT IN ('btree', 'hash') THEN 'has the access method ' || m.amname END::text
            FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
            CROSS JOIN LATERAL unnest(i.indkey::int2[]) WITH ORDINALITY AS k(attribute, place)
            LEFT JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.attribute
            WHERE i.indrelid = \(bind: .int(table), .int64)::oid AND NOT i.indisunique AND NOT i.indisexclusion AND i.indisvalid
                AND k.place <= i.indnkeyatts
            ORDER BY c.relname COLLATE "C", k.place
            """
        var result: [CatalogIndex] = []
        for row in try connection.rows(text, [.string, .string, .string]) {
            if result.last?.name != row[0].text { result.append(CatalogIndex(row[0].text, obstacle: row[2].isNull ? nil : row[2].text)) }
            if !row[1].isNull { result[result.count - 1].columns.append(row[1].text) }
        }
        return result
    }

    /// Returns the names of the unique indexes that are partial or over expressions.
    func otherUniqueIndexes(_ table: Int64) throws(StorageError) -> [String] {
        let text: SQLText = """
            SELECT c.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
            WHERE i.indrelid = \(bind: .int(table), .int64)::oid AND i.indisunique AND (i.indpred IS NOT NULL OR i.indexprs IS NOT NULL)
            ORDER BY c.relname COLLATE "C"
            """
        return try connection.rows(text, [.string]).map { $0[0].text }
    }

    /// Returns whether a column of texts or data contains a value of more than some bytes.
    func holdsLong(_ source: String, _ column: String, isText: Bool, _ bytes: Int) throws(StorageError) -> Bool {
        let value = "t.\(SQLText.quoted(column))\(isText ? "::text" : "")"
        return try count(
            "SELECT count(*) FROM (SELECT 1 FROM \(raw: source) AS t WHERE octet_length(\(raw: value)) > \(bind: .int(Int64(bytes)), .int64) LIMIT 1) f"
        ) > 0
    }

    func references(_ table: Int64) throws(StorageError) -> [Reference] {
        let text: SQLText = """
            SELECT r.oid::int8, n.nspname::text, c.relname::text, r.confdeltype::text, r.convalidated, a.attname::text, f.attname::text
            FROM pg_constraint r JOIN pg_class c ON c.oid = r.confrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            CROSS JOIN LATERAL unnest(r.conkey, r.confkey) WITH ORDINALITY AS k(own, other, place)
            JOIN pg_attribute a ON a.attrelid = r.conrelid AND a.attnum = k.own
            JOIN pg_attribute f ON f.attrelid = r.confrelid AND f.attnum = k.other
            WHERE r.conrelid = \(bind: .int(table), .int64)::oid AND r.contype = 'f' AND r.conparentid = 0
            ORDER BY r.conkey, r.oid, k.place
            """
        var result: [Reference] = [], last: Value?
        for row in try connection.rows(text, [.int64, .string, .string, .string, .bool, .string, .string]) {
            if row[0] != last {
                result.append(
                    Reference(
                        schema: row[1].text, table: row[2].text, deleteRule: Self.deleteRule(row[3].text),
                        isValidated: row[4] == .bool(true)))
            }
            last = row[0]
            result[result.count - 1].columns.append(row[5].text)
            result[result.count - 1].targets.append(row[6].text)
        }
        return result
    }

    /// Returns the delete rule for a letter of `pg_constraint.confdeltype`.
    private static func deleteRule(_ letter: String) -> DeleteRule {
        switch letter {
        case "c": .cascade
        case "n", "d": .nullify
        default: .deny
        }
    }

    /// Returns the check conditions of a table.
    func checks(_ table: Int64) throws(StorageError) -> [String] {
        let text: SQLText = """
            SELECT pg_get_expr(conbin, conrelid)::text FROM pg_constraint
            WHERE conrelid = \(bind: .int(table), .int64)::oid AND contype = 'c' ORDER BY conname COLLATE "C"
            """
        return try connection.rows(text, [.string]).map { $0[0].text }
    }

    /// Returns the value of a literal in a column; nil if it has none.
    func value(_ literal: String, of column: Column, _ read: PostgreSQLColumnType) throws(StorageError) -> Value? {
        let source: SQLText = "(SELECT \(raw: literal)::\(raw: column.typeName) AS \(identifier: column.name)) AS t"
        try connection.execute("SAVEPOINT polystore_default")
        do throws(StorageError) {
            let plain: SQLText = "t.\(identifier: column.name)"
            let found: Value?
            // The functions with which such columns are read are those of other connections.
            switch read.type {
            case .date:
                let microseconds: SQLText = "SELECT (extract(epoch FROM \(plain)) * 1000000)::int8 FROM \(source)"
                found = try connection.rows(microseconds, [.int64]).first?.first.map { .date($0.number) }
            case .decimal, .float, .double:
                let text = try connection.rows("SELECT \(plain)::text FROM \(source)", [.string]).first?.first?.text
                found = text.flatMap { ValueText.value($0, as: read.type) }
            default: found = try connection.rows("SELECT \(raw: read.value) FROM \(source)", [read.type]).first?.first
            }
            try connection.execute("RELEASE SAVEPOINT polystore_default")
            return found.flatMap { $0.isNull ? nil : $0 }
        } catch {
            try connection.execute("ROLLBACK TO SAVEPOINT polystore_default; RELEASE SAVEPOINT polystore_default")
            return nil
        }
    }

    /// Returns the name of the primary key of a table, and the references that depend on it: the table, the name, and the definition. Tables
    /// are named with their schemas.
    ///
    /// *Requires*: a transaction.
    func keyConstraint(_ schema: String, _ table: String) throws(StorageError) -> (name: String, references: [[String]])? {
        let place = "\(SQLText.quoted(schema)).\(SQLText.quoted(table))"
        let key: SQLText = """
            SELECT conname::text, conindid::int8 FROM pg_constraint
            WHERE conrelid = \(bind: .string(place), .string)::regclass AND contype = 'p'
            """
        guard let found = try connection.rows(key, [.string, .int64]).first else { return nil }
        let text: SQLText = """
            SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
            WHERE contype = 'f' AND conindid = \(bind: found[1], .int64)::oid AND conparentid = 0 ORDER BY 1, 2
            """
        // The server leaves out the names of schemas in the search path.
        try connection.execute("SAVEPOINT polystore_names; SET LOCAL search_path = ''")
        let references = try connection.rows(text, [.string, .string, .string]).map { $0.map(\.text) }
        try connection.execute("ROLLBACK TO SAVEPOINT polystore_names; RELEASE SAVEPOINT polystore_names")
        return (found[0].text, references)
    }

    /// Returns whether the numbers of a column can be keys.
    func holdsKeys(_ source: String, _ column: String) throws(StorageError) -> Bool {
        let text: SQLText = "SELECT max(t.\(identifier: column))::int8, min(t.\(identifier: column))::int8 FROM \(raw: source) AS t"
        let ends = try connection.rows(text, [.int64, .int64]).first?.map(\.number) ?? []
        return ends.allSatisfy { $0 <= CatalogKey.greatest && $0 >= -CatalogKey.greatest }
    }

    /// Returns the identity of the database on its server, and of the server as far as it reveals it.
    func database() throws(StorageError) -> String {
        let text: SQLText = """
            SELECT concat_ws(' ', current_database(), (SELECT oid FROM pg_database WHERE datname = current_database()),
                inet_server_addr(), inet_server_port())
            """
        return try connection.rows(text, [.string]).first?.first?.text ?? ""
    }
}
#endif
