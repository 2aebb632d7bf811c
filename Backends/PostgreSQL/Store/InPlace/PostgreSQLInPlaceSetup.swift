#if PostgreSQL
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage

/// What lies beside the tables of another program: versions, the log of changes, and the triggers that keep both, whoever writes.
///
/// The functions of the triggers run with the rights of their owner, so that other users need none on what lies there.
struct PostgreSQLInPlaceSetup {
    private static let creation = """
        CREATE TABLE IF NOT EXISTS polystore_inplace(name text PRIMARY KEY, value text NOT NULL);
        CREATE TABLE IF NOT EXISTS polystore_versions(source text COLLATE "C", key int8, version int8 NOT NULL, PRIMARY KEY(source, key));
        CREATE TABLE IF NOT EXISTS polystore_log(position int8 DEFAULT pg_current_xact_id()::text::int8,
            number int8 GENERATED ALWAYS AS IDENTITY, time int8 NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000000)::int8,
            source text COLLATE "C" NOT NULL, key int8 NOT NULL, kind text NOT NULL, changed text NOT NULL DEFAULT '\(InPlaceLog.everything)',
            PRIMARY KEY(position, number));
        CREATE TABLE IF NOT EXISTS polystore_commits(position int8 PRIMARY KEY, time int8 NOT NULL, author text NOT NULL);
        CREATE TABLE IF NOT EXISTS polystore_notes(name text COLLATE "C" PRIMARY KEY, value bytea NOT NULL);
        INSERT INTO polystore_inplace VALUES('format', '1') ON CONFLICT DO NOTHING;
        """

    private let connection: PostgreSQLConnection
    private let schema: String
    private let triggers: [String]
    private let expected: Set<String>

    /// - Parameter sequences: The sequences of the tables' keys, nil where one has to lie beside them.
    init(_ connection: PostgreSQLConnection, _ schema: String, _ tables: InPlaceTables, _ sequences: [String?]) {
        self.connection = connection
        self.schema = schema
        triggers =
            zip(tables.tables, sequences).map { Self.triggers($0, schema, hasSequence: $1 != nil) }
            + tables.pairs.map { Self.triggers($0, schema) }
        expected = Set(
            (tables.tables.map(\.name) + tables.pairs.map(\.name)).flatMap { name in Self.events.map { "\(name).polystore_\($0)" } })
    }

    /// The identity of the store; nil where it was never written to in place.
    static func storeID(_ connection: PostgreSQLConnection, _ schema: String) throws(StorageError) -> UUID? {
        try InPlaceIdentity.storeID(entries(connection, schema))
    }

    private static func entries(_ connection: PostgreSQLConnection, _ schema: String) throws(StorageError) -> [String: String] {
        let table = "\(SQLText.quoted(schema)).polystore_inplace"
        let known: SQLText = "SELECT to_regclass(\(bind: .string(table), .string)) IS NOT NULL"
        guard try connection.rows(known, [.bool]).first == [.bool(true)] else { return [:] }
        return try connection.entries("SELECT name, value FROM \(raw: table)")
    }

    /// Makes what is missing, in one transaction; nothing is written where all is there.
    func install() throws(StorageError) {
        if try isInstalled() { return }
        try PostgreSQLSetup(connection, schema).alone { () throws(StorageError) in
            if try isInstalled() { return }
            do throws(StorageError) { try connection.inTransaction("BEGIN", make) } catch {
                guard error.code == .permissionDenied else { throw error }
                throw StorageError(
                    .permissionDenied,
                    "using the schema \"\(schema)\" in place needs the right to make tables in it and triggers on its tables, once: open it as their owner",
                    cause: error)
            }
        }
    }

    private func make() throws(StorageError) {
        try connection.execute(Self.creation)
        try connection.execute(
            "INSERT INTO polystore_inplace VALUES('store', '\(UUID().uuidString)') ON CONFLICT DO NOTHING; "
                + "INSERT INTO polystore_inplace VALUES('triggers', '\(hash)') ON CONFLICT (name) DO UPDATE SET value = excluded.value")
        try Self.dropFunctions(connection, schema)
        for statement in triggers { try connection.execute(statement) }
    }

    private var hash: String { SchemaHash(of: triggers.joined(separator: "\n")).description }

    private func isInstalled() throws(StorageError) -> Bool {
        guard try Self.entries(connection, schema)["triggers"] == hash else { return false }
        let text: SQLText = """
            SELECT c.relname || '.' || g.tgname FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = \(bind: .string(schema), .string) AND g.tgname LIKE 'polystore\\_%' AND g.tgenabled IN ('O', 'A')
            """
        return Set(try connection.rows(text, [.string]).map { $0[0].text }) == expected
    }

    /// Removes all of it, in one transaction; the tables of the other program stay as they are.
    static func remove(_ connection: PostgreSQLConnection, _ schema: String) throws(StorageError) {
        try connection.inTransaction("BEGIN") { () throws(StorageError) in
            try dropFunctions(connection, schema)
            let text: SQLText = """
                SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                WHERE n.nspname = \(bind: .string(schema), .string) AND c.relkind = 'S' AND c.relname LIKE 'polystore\\_keys.%'
                """
            for row in try connection.rows(text, [.string]) {
                try connection.execute("DROP SEQUENCE \(SQLText.quoted(schema)).\(SQLText.quoted(row[0].text))")
            }
            for name in ["inplace", "versions", "log", "commits", "notes"] {
                try connection.execute("DROP TABLE IF EXISTS \(SQLText.quoted(schema)).polystore_\(name)")
            }
        }
    }

    /// Drops the functions with the triggers that call them.
    private static func dropFunctions(_ connection: PostgreSQLConnection, _ schema: String) throws(StorageError) {
        let text: SQLText = """
            SELECT p.proname::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
            WHERE n.nspname = \(bind: .string(schema), .string) AND p.proname LIKE 'polystore\\_note.%'
            """
        for row in try connection.rows(text, [.string]) {
            try connection.execute("DROP FUNCTION \(SQLText.quoted(schema)).\(SQLText.quoted(row[0].text))() CASCADE")
        }
    }
}

extension PostgreSQLInPlaceSetup {
    private static let events = ["insert", "update", "delete"]

    private static func literal(_ text: String) -> String { "'\(SQLText.doubling("'", in: text))'" }

    /// The name of what lies beside a table. The server cuts names behind 63 bytes.
    private static func place(_ prefix: String, _ table: String, _ schema: String) -> String {
        let part = table.utf8.count > 48 ? String(SchemaHash(of: table).description.prefix(40)) : table
        return "\(SQLText.quoted(schema)).\(SQLText.quoted(prefix + part))"
    }

    /// The sequence of a table that has none of its own.
    static func sequence(_ table: String, _ schema: String) -> String { place("polystore_keys.", table, schema) }

    /// A function and the triggers of the three events that call it once for each statement, with the rows before and after it.
    private static func triggers(_ name: String, _ table: String, _ schema: String, _ body: String) -> String {
        let function = place("polystore_note.", name, schema)
        let old = "OLD TABLE AS polystore_old", new = "NEW TABLE AS polystore_new"
        let tables = ["REFERENCING \(new)", "REFERENCING \(old) \(new)", "REFERENCING \(old)"]
        let made = zip(events, tables).map { event, tables in
            "CREATE TRIGGER polystore_\(event) AFTER \(event.uppercased()) ON \(table) \(tables) FOR EACH STATEMENT EXECUTE FUNCTION \(function)();"
        }
        return """
            CREATE FUNCTION \(function)() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = \(SQLText.quoted(schema)), pg_temp AS $polystore$
            BEGIN
            \(body)
            RETURN NULL;
            END $polystore$;
            \(made.joined(separator: "\n"))
            """
    }

    /// The statement that raises the versions of rows.
    private static func raise(_ source: String, _ rows: String) -> String {
        "INSERT INTO polystore_versions SELECT \(literal(source)), k.key, 2 FROM (\(rows)) AS k(key) "
            + "ON CONFLICT (source, key) DO UPDATE SET version = polystore_versions.version + 1;"
    }

    /// The statement that notes changes: the kind is the first letter of insert, update, delete or links.
    private static func log(_ source: String, _ rows: String, _ kind: String) -> String {
        "INSERT INTO polystore_log(source, key, kind) SELECT \(literal(source)), k.key, '\(kind)' FROM (\(rows)) AS k(key);"
    }

    private static func triggers(_ table: InPlaceTables.Table, _ schema: String, hasSequence: Bool) -> String {
        let name = table.name, key = SQLText.quoted(table.key)
        let new = "SELECT r.\(key) FROM polystore_new AS r", old = "SELECT r.\(key) FROM polystore_old AS r"
        func others(_ rows: String, than other: String) -> String {
            "\(rows) WHERE NOT EXISTS (SELECT 1 FROM \(other) AS s WHERE s.\(key) = r.\(key))"
        }
        let kept = "\(new) WHERE EXISTS (SELECT 1 FROM polystore_old AS s WHERE s.\(key) = r.\(key))"
        let sequence = sequence(name, schema), text = literal(sequence), greatest = "(SELECT max(t.\(key))::int8 FROM \(table.source) AS t)"
        let made = """
            CREATE SEQUENCE IF NOT EXISTS \(sequence); SELECT setval(\(text), greatest(1, \(greatest)), \(greatest) > 0);
            """
        let follow = """
            PERFORM setval(\(text), k.key) FROM (SELECT max(r.\(key))::int8 AS key FROM polystore_new AS r) AS k
                WHERE k.key > (SELECT last_value FROM \(sequence));
            """
        let gone = others(old, than: "polystore_new"), come = others(new, than: "polystore_old")
        return (hasSequence ? "" : made)
            + triggers(
                name, table.target, schema,
                """
                IF TG_OP = 'INSERT' THEN \(log(name, new, "i")) \(hasSequence ? "" : follow)
                ELSIF TG_OP = 'DELETE' THEN \(raise(name, old)) \(log(name, old, "d"))
                ELSE \(raise(name, "\(new) UNION \(old)")) \(log(name, kept, "u")) \(log(name, gone, "d")) \(log(name, come, "i"))
                END IF;
                """)
    }

    private static func triggers(_ pairs: InPlaceTables.Pairs, _ schema: String) -> String {
        func log(_ rows: String) -> String {
            let key = pairs.ownerKey("r")
            return Self.log(pairs.name, "SELECT \(key) FROM \(rows) AS r WHERE \(key) IS NOT NULL", "l")
        }
        return triggers(
            pairs.name, pairs.target, schema,
            """
            IF TG_OP <> 'INSERT' THEN \(log("polystore_old")) END IF;
            IF TG_OP <> 'DELETE' THEN \(log("polystore_new")) END IF;
            """)
    }
}
#endif
