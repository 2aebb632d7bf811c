#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The triggers on a table of another program, as statements. They maintain versions and log for every writer.
///
/// They run within the statements of other programs. They therefore take no value of a sequence, which would change `lastval`, and have no
/// join whose plan assumes few rows. They process all rows of a statement at once, except in a table with inheritance, where they run for
/// each row, because a statement on one table changes rows of another.
struct PostgreSQLInPlaceTriggers {
    /// The setting that numbers the rows of the log within a transaction.
    private static let number = "polystore.number"
    /// The setting by which a Polystore statement declares the columns that it changes. The trigger resets it.
    static let changed = "polystore.changed"
    /// The number of triggers of a table.
    static let count = events.count

    private static let events = ["insert", "update", "delete", "truncate"]

    /// The name of the table.
    let name: String
    /// The name of the function that the triggers call.
    let functionName: String
    /// The statements that create or replace the function, without blocking other sessions.
    let function: [String]
    /// The statements that create or replace the triggers. They also run in replication sessions, because those write as well.
    let triggers: [String]
    /// Whether the triggers run for each row.
    let isByRow: Bool

    /// The hash of the function's definition.
    var hash: String { SchemaHash(of: function.joined(separator: "\n")).description }

    /// Returns the value of the setting for columns, as SQL.
    static func changed(_ table: String, _ columns: String) -> String { literal("\(table)\(InPlaceLog.separator)\(columns)") }

    private static func literal(_ text: String) -> String { "'\(SQLText.doubling("'", in: text))'" }

    /// Returns the name of one of Polystore's objects for a table. The server truncates names to 63 bytes.
    static func place(_ prefix: String, _ table: String) -> String {
        prefix + (table.utf8.count > 48 ? String(SchemaHash(of: table).description.prefix(40)) : table)
    }

    /// Creates the triggers of a table whose rows are objects.
    ///
    /// - Parameter sequence: Polystore's sequence for the keys of a table without a sequence of its own.
    init(_ table: InPlaceTables.Table, _ schema: String, isByRow: Bool, sequence: String?) {
        let rows = Rows(isByRow: isByRow, source: table.source) { "\($0).\(SQLText.quoted(table.key))" }, source = Self.literal(table.name)
        func raise(_ rows: String) -> String {
            "INSERT INTO polystore_versions SELECT \(source), k.key, 2 FROM (\(rows)) AS k(key) "
                + "ON CONFLICT (source, key) DO UPDATE SET version = polystore_versions.version + 1;"
        }
        func kind(_ rows: String, _ kind: String) -> String { "SELECT k.key, '\(kind)' FROM (\(rows)) AS k(key)" }
        // Old and new rows of an update as one table: a join of the two would be planned for as many rows as the first update had.
        let both = """
            SELECT k.key, CASE WHEN bool_and(k.was) THEN 'd' WHEN bool_or(k.was) THEN 'u' ELSE 'i' END
            FROM (\(rows.old(", true")) UNION ALL \(rows.new(", false"))) AS k(key, was) GROUP BY k.key
            """
        let noted = isByRow ? "" : Self.noted(table.name)
        // Only a sequence is visible to all sessions before the transaction commits. Setting one does not affect `lastval`.
        let follow = sequence.map {
            "PERFORM setval(\(Self.literal($0)), k.key) FROM (SELECT max(n.key)::int8 FROM (\(rows.new())) AS n(key)) AS k(key) "
                + "WHERE k.key > (SELECT last_value FROM \($0));"
        }
        // A trigger of the owner that has undone a change has logged that before.
        let exists = "(k.key::int8 IN (SELECT unnest(polystore_present)))"
        let seen = "CASE WHEN polystore_nested AND (k.kind = 'd') = \(exists) THEN upper(k.kind) ELSE k.kind END"
        func log(_ rows: String) -> String { "\(Self.look(table, rows)) \(Self.log(source, rows, kind: seen))" }
        self.init(
            table.name, table.target, schema, isByRow: isByRow, sequence: sequence,
            """
            \(Self.nested)
            IF TG_OP = 'INSERT' THEN \(log(kind(rows.new(), "i"))) \(follow ?? "")
            ELSIF TG_OP = 'DELETE' THEN \(raise(rows.old())) \(log(kind(rows.old(), "d")))
            ELSIF TG_OP = 'TRUNCATE' THEN \(raise(rows.all)) \(Self.log(source, kind(rows.all, "d")))
            ELSE
            \(noted)
            \(raise("\(rows.new()) UNION \(rows.old())")) \(log(both))
            END IF;
            """)
    }

    /// Creates the triggers of a table whose rows are pairs.
    init(_ pairs: InPlaceTables.Pairs, _ schema: String, isByRow: Bool) {
        let rows = Rows(isByRow: isByRow, source: pairs.source, pairs.ownerKey), source = Self.literal(pairs.name)
        func log(_ rows: String) -> String { Self.log(source, "SELECT k.key, 'l' FROM (\(rows)) AS k(key) WHERE k.key IS NOT NULL") }
        self.init(
            pairs.name, pairs.target, schema, isByRow: isByRow, sequence: nil,
            """
            IF TG_OP IN ('UPDATE', 'DELETE') THEN \(log(rows.old())) END IF;
            IF TG_OP IN ('UPDATE', 'INSERT') THEN \(log(rows.new())) END IF;
            IF TG_OP = 'TRUNCATE' THEN \(log(rows.all)) END IF;
            """)
    }

    private init(_ name: String, _ target: String, _ schema: String, isByRow: Bool, sequence: String?, _ body: String) {
        self.name = name
        self.isByRow = isByRow
        functionName = Self.place("polystore_note.", name)
        let function = "\(SQLText.quoted(schema)).\(SQLText.quoted(functionName))"
        self.function =
            (sequence.map { ["CREATE SEQUENCE IF NOT EXISTS \($0)"] } ?? []) + [
                """
                CREATE OR REPLACE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = \(SQLText.quoted(schema)), pg_temp AS $polystore$
                DECLARE
                    polystore_number int8 := coalesce(nullif(current_setting('\(Self.number)', true), '')::int8, 0);
                    polystore_rows int8;
                    polystore_changed text := '\(InPlaceLog.everything)';
                    polystore_nested bool := false;
                    polystore_present int8[] := '{}';
                BEGIN
                \(body)
                RETURN NULL;
                END $polystore$
                """
            ]
        let old = "OLD TABLE AS polystore_old", new = "NEW TABLE AS polystore_new"
        let tables = ["insert": "REFERENCING \(new) ", "update": "REFERENCING \(old) \(new) ", "delete": "REFERENCING \(old) "]
        triggers = Self.events.flatMap { event in
            let isTruncation = event == "truncate", level = isByRow && !isTruncation ? "ROW" : "STATEMENT"
            let rows = isByRow ? "" : tables[event] ?? ""
            return [
                "CREATE OR REPLACE TRIGGER polystore_\(event) \(isTruncation ? "BEFORE" : "AFTER") \(event.uppercased()) ON \(target) "
                    + "\(rows)FOR EACH \(level) EXECUTE FUNCTION \(function)()",
                "ALTER TABLE \(target) ENABLE ALWAYS TRIGGER polystore_\(event)",
            ]
        }
    }

    /// The rows that a trigger processes, as SQL that returns their keys.
    private struct Rows {
        private let key: (String) -> String
        private let isByRow: Bool
        /// The query for all rows of the table.
        let all: String

        init(isByRow: Bool, source: String, _ key: @escaping (String) -> String) {
            self.isByRow = isByRow
            self.key = key
            all = "SELECT \(key("r")) FROM \(source) AS r"
        }

        /// Returns the query for the rows before the statement, each with additional columns.
        func old(_ more: String = "") -> String { rows("OLD", "polystore_old", more) }

        /// Returns the query for the rows after the statement.
        func new(_ more: String = "") -> String { rows("NEW", "polystore_new", more) }

        private func rows(_ row: String, _ table: String, _ more: String) -> String {
            isByRow ? "SELECT \(key(row))\(more)" : "SELECT \(key("r"))\(more) FROM \(table) AS r"
        }
    }

    /// The statement that determines whether triggers of the owner, or references of other tables, may already have logged changes of the
    /// same rows. Only then the trigger looks at the rows.
    private static let nested = """
        IF polystore_number > 0 AND TG_OP <> 'TRUNCATE' THEN
            polystore_nested := EXISTS (SELECT FROM pg_trigger AS g JOIN pg_proc AS p ON p.oid = g.tgfoid
                WHERE g.tgrelid = TG_RELID AND g.tgenabled <> 'D' AND CASE WHEN g.tgisinternal
                    THEN p.proname ~ '^RI_FKey_(cascade|setnull|setdefault)_' ELSE NOT starts_with(g.tgname::text, 'polystore_') END);
        END IF;
        """

    /// Returns the statement that determines which rows exist. It finds the table by its number, because the owner may rename the table.
    private static func look(_ table: InPlaceTables.Table, _ rows: String) -> String {
        """
        IF polystore_nested THEN
            EXECUTE format('SELECT ARRAY(SELECT t.%1$I::int8 FROM ONLY %2$s AS t WHERE t.%1$I = ANY($1))',
                    \(literal(table.key)), TG_RELID::regclass)
                INTO polystore_present USING ARRAY(SELECT k.key::int8 FROM (\(rows)) AS k(key, kind));
        END IF;
        """
    }

    /// Returns the statement that logs changes. The kind is the first letter of insert, update, delete or links, as a capital if the row
    /// does not exist after an insertion or update, or exists after a deletion. A setting numbers the rows, and rolling back to a savepoint
    /// restores it together with the rows.
    private static func log(_ source: String, _ rows: String, kind: String = "k.kind") -> String {
        """
        INSERT INTO polystore_log(number, source, key, kind, changed) SELECT polystore_number + row_number() OVER (), \(source), k.key, \(kind),
            CASE k.kind WHEN 'u' THEN polystore_changed ELSE '\(InPlaceLog.everything)' END FROM (\(rows)) AS k(key, kind);
        GET DIAGNOSTICS polystore_rows = ROW_COUNT;
        polystore_number := polystore_number + polystore_rows;
        PERFORM set_config('\(number)', polystore_number::text, true);
        """
    }

    /// Returns the statement that takes over the columns that a Polystore statement declares, unless a trigger of the owner may change
    /// more.
    private static func noted(_ table: String) -> String {
        let start = literal("\(table)\(InPlaceLog.separator)")
        return """
            IF pg_trigger_depth() = 1 AND starts_with(current_setting('\(changed)', true), \(start)) THEN
                IF NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = TG_RELID AND tgtype & 19 = 19 AND tgenabled <> 'D') THEN
                    polystore_changed := substr(current_setting('\(changed)', true), length(\(start)) + 1);
                END IF;
                PERFORM set_config('\(changed)', '', true);
            END IF;
            """
    }
}
#endif
