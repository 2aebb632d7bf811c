#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// The setup of Polystore's own tables beside those of another program: versions, the change log, and the triggers that maintain both for
/// every writer.
///
/// The trigger functions run with the privileges of their owner, so that other users need none on Polystore's tables. Each table is changed
/// in a separate transaction, only where something is missing, and no transaction waits long for a lock: readers are never blocked, and
/// writers for at most a quarter of a second.
struct PostgreSQLInPlaceSetup {
    /// The maximum time in seconds that opening a store tries to get the locks of the tables.
    private static let patience = 60.0
    private static let doubt = "the connection to the server was lost during COMMIT: open the store again, which creates what is missing"
    /// The entries of `polystore_inplace` for the end of the history, and for tables with triggers.
    private static let epoch = "epoch", watched = "triggers."

    private static let creation = """
        CREATE TABLE IF NOT EXISTS polystore_inplace(name text PRIMARY KEY, value text NOT NULL);
        CREATE TABLE IF NOT EXISTS polystore_versions(source text COLLATE "C", key int8, version int8 NOT NULL, PRIMARY KEY(source, key));
        CREATE TABLE IF NOT EXISTS polystore_log(position int8 DEFAULT \(position(0)),
            number int8 NOT NULL, time int8 NOT NULL DEFAULT (extract(epoch FROM clock_timestamp()) * 1000000)::int8,
            source text COLLATE "C" NOT NULL, key int8 NOT NULL, kind text NOT NULL, changed text NOT NULL DEFAULT '\(InPlaceLog.everything)',
            PRIMARY KEY(position, number));
        CREATE TABLE IF NOT EXISTS polystore_commits(position int8 PRIMARY KEY, time int8 NOT NULL, author text NOT NULL);
        CREATE TABLE IF NOT EXISTS polystore_notes(name text COLLATE "C" PRIMARY KEY, value bytea NOT NULL);
        INSERT INTO polystore_inplace VALUES('store', '\(UUID().uuidString)'), ('\(epoch)', '0') ON CONFLICT DO NOTHING;
        INSERT INTO polystore_inplace VALUES('format', '\(InPlaceIdentity.format)') ON CONFLICT (name) DO UPDATE SET value = excluded.value;
        """

    private let connection: PostgreSQLConnection
    private let schema: String
    private let tables: [PostgreSQLInPlaceTriggers]

    /// - Parameter sequences: The sequences of the tables' keys; nil where Polystore creates one.
    init(_ connection: PostgreSQLConnection, _ schema: String, _ tables: InPlaceTables, _ sequences: [String?]) throws(StorageError) {
        self.connection = connection
        self.schema = schema
        // Triggers for each row of a partitioned table also run for a change that is made directly in a partition.
        let inheriting: SQLText = """
            SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = \(bind: .string(schema), .string) AND (c.relkind = 'p' OR c.relkind = 'r' AND NOT c.relispartition
                AND EXISTS (SELECT FROM pg_inherits i WHERE c.oid IN (i.inhrelid, i.inhparent)))
            """
        let byRow = Set(try connection.rows(inheriting, [.string]).map { $0[0].text })
        self.tables =
            zip(tables.tables, sequences).map { table, own in
                PostgreSQLInPlaceTriggers(
                    table, schema, isByRow: byRow.contains(table.name), sequence: own == nil ? Self.sequence(table.name, schema) : nil)
            } + tables.pairs.map { PostgreSQLInPlaceTriggers($0, schema, isByRow: byRow.contains($0.name)) }
    }

    /// Returns Polystore's sequence for a table without a sequence of its own.
    static func sequence(_ table: String, _ schema: String) -> String {
        "\(SQLText.quoted(schema)).\(SQLText.quoted(PostgreSQLInPlaceTriggers.place("polystore_keys.", table)))"
    }

    /// Returns the position of a transaction in the log.
    private static func position(_ offset: Int64) -> String { "(pg_current_xact_id()::text::int8 + \(offset)::int8)" }

    /// Returns the identity of the store, or nil if it was never written to in place.
    static func storeID(_ connection: PostgreSQLConnection, _ schema: String) throws(StorageError) -> UUID? {
        try InPlaceIdentity.storeID(entries(connection, schema))
    }

    private static func entries(_ connection: PostgreSQLConnection, _ schema: String) throws(StorageError) -> [String: String] {
        let table = "\(SQLText.quoted(schema)).polystore_inplace"
        let known: SQLText = "SELECT to_regclass(\(bind: .string(table), .string)) IS NOT NULL"
        guard try connection.rows(known, [.bool]).first == [.bool(true)] else { return [:] }
        return try connection.entries("SELECT name, value FROM \(raw: table)")
    }

    // MARK: What is there

    /// The state of the triggers, as SQL: the number of times that the history was ended, the number of inheritances of the tables, and the
    /// number of triggers that run in every session. It changes when the tables are changed without Polystore's knowledge.
    var state: String {
        """
        coalesce((SELECT value FROM \(SQLText.quoted(schema)).polystore_inplace WHERE name = '\(Self.epoch)'), '') || '.' || (
            SELECT coalesce(sum((SELECT count(*) FROM pg_inherits i WHERE i.inhrelid = c.oid)
                + (SELECT count(*) FROM pg_inherits i WHERE i.inhparent = c.oid)), 0)
            FROM pg_class c WHERE \(isTable) AND c.relkind = 'r') || '.' || (
            SELECT count(*) FROM pg_class c JOIN pg_trigger g ON g.tgrelid = c.oid
            WHERE \(isTable) AND g.tgname LIKE 'polystore\\_%' AND g.tgenabled = 'A')
        """
    }

    /// The triggers of the owner that may undo a change, as SQL that returns a text for `PostgreSQLInPlaceAnswers`.
    var answers: String {
        """
        coalesce((SELECT string_agg(c.relname || '\(InPlaceLog.separator)' || g.events, '\(InPlaceLog.separator)')
            FROM pg_class c JOIN (SELECT tgrelid, bit_or(tgtype & CASE WHEN tgtype & 2 = 0 THEN 28 ELSE 16 END) AS events FROM pg_trigger
                WHERE NOT tgisinternal AND tgenabled <> 'D' AND tgname NOT LIKE 'polystore\\_%' GROUP BY 1) AS g ON g.tgrelid = c.oid
            WHERE \(isTable)), '')
        """
    }

    /// The condition on `pg_class c` that it is one of the tables, as SQL.
    private var isTable: String {
        let list = tables.map { "'\(SQLText.doubling("'", in: $0.name))'" }.joined(separator: ", ")
        return "c.relnamespace = '\(SQLText.doubling("'", in: SQLText.quoted(schema)))'::regnamespace "
            + "AND c.relname = ANY(ARRAY[\(list)]::name[])"
    }

    /// The number of triggers when all exist.
    var triggerCount: Int { tables.count * PostgreSQLInPlaceTriggers.count }

    /// Returns the tables whose triggers exist, run in every session and call their own function, and all tables with a Polystore trigger.
    private func watched() throws(StorageError) -> (Set<String>, partly: Set<String>) {
        let text: SQLText = """
            SELECT c.relname::text, CASE WHEN g.tgenabled = 'A' THEN p.proname::text ELSE '' END, g.tgtype & 1 = 1, count(*)
            FROM pg_trigger g JOIN pg_class c ON c.oid = g.tgrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_proc p ON p.oid = g.tgfoid
            WHERE n.nspname = \(bind: .string(schema), .string) AND g.tgname LIKE 'polystore\\_%' GROUP BY 1, 2, 3
            """
        var counts: [[String]: Int] = [:]
        for row in try connection.rows(text, [.string, .string, .bool, .int64]) {
            counts[[row[0].text, row[1].text, row[2] == .bool(true) ? "row" : "statement"]] = Int(row[3].number)
        }
        let found = tables.filter { table in
            let rows = counts[[table.name, table.functionName, "row"]] ?? 0
            let statements = counts[[table.name, table.functionName, "statement"]] ?? 0
            // TRUNCATE has no row-level triggers.
            return (rows, statements) == (table.isByRow ? (PostgreSQLInPlaceTriggers.count - 1, 1) : (0, PostgreSQLInPlaceTriggers.count))
        }
        return (Set(found.map(\.name)), partly: Set(counts.keys.map { $0[0] }))
    }

    private func isInstalled(_ entries: [String: String], _ watched: Set<String>) -> Bool {
        entries["format"] == "\(InPlaceIdentity.format)"
            && tables.allSatisfy { watched.contains($0.name) && entries[Self.watched + $0.name] == $0.hash }
    }

    // MARK: Making

    /// Creates what is missing. Writes nothing if everything exists.
    func install() throws(StorageError) {
        if isInstalled(try Self.entries(connection, schema), try watched().0) { return }
        try PostgreSQLSetup(connection, schema).alone { () throws(StorageError) in
            do throws(StorageError) { try make() } catch {
                guard error.code == .permissionDenied else { throw error }
                throw StorageError(
                    .permissionDenied,
                    "the first use of the schema \"\(schema)\" in place requires the privileges to create tables in it and triggers on its "
                        + "tables: open it as their owner once",
                    cause: error)
            }
        }
    }

    private func make() throws(StorageError) {
        let before = try Self.entries(connection, schema), format = "\(InPlaceIdentity.format)"
        if before["format"] != format {
            try patiently { () throws(StorageError) in
                try connection.execute(Self.creation)
                // Functions of the first format let the server number the log. They run until they are replaced.
                if before["format"] == "1" {
                    try connection.execute(
                        "ALTER TABLE polystore_log ALTER COLUMN number SET GENERATED BY DEFAULT; DELETE FROM polystore_inplace WHERE name = 'triggers'"
                    )
                }
            }
        }
        // The triggers of an older format did not record every change.
        let isOlder = before["format"] != nil && before["format"] != format
        let (watched, partly) = try watched()
        for table in tables where !watched.contains(table.name) || before[Self.watched + table.name] != table.hash {
            // A table that was renamed has the triggers of its old name.
            let wasWatched = before[Self.watched + table.name] != nil || partly.contains(table.name) || isOlder
            try patiently { () throws(StorageError) in
                for statement in table.function { try connection.execute(statement) }
                if !watched.contains(table.name) {
                    for statement in table.triggers { try connection.execute(statement) }
                    // The lock for creating the triggers waits for all unrecorded changes, which therefore precede this transaction.
                    if wasWatched { try endHistory() }
                }
                let note: SQLText = """
                    INSERT INTO polystore_inplace VALUES(\(bind: .string(Self.watched + table.name), .string), \(bind: .string(table.hash), .string))
                    ON CONFLICT (name) DO UPDATE SET value = excluded.value
                    """
                _ = try connection.query(note)
            }
        }
    }

    /// Ends the history with the transaction: older tokens expire, and open stores have to be opened again, because the versions that they
    /// know may be wrong.
    private func endHistory() throws(StorageError) {
        let offset = try PostgreSQLSetup(connection, schema).knownOffset()
        let floor = try connection.number("SELECT \(raw: Self.position(offset))") ?? 0
        try connection.setHistoryFloor(HistoryFloor(floor))
        try connection.execute("UPDATE polystore_inplace SET value = (value::int8 + 1)::text WHERE name = '\(Self.epoch)'")
    }

    private func patiently(_ body: () throws(StorageError) -> Void) throws(StorageError) {
        try connection.patiently(Self.patience, orSaying: Self.doubt, body)
    }

    /// Returns the difference between positions of the log and transaction IDs, as for Polystore's own tables.
    func historyOffset(storing: Bool) throws(StorageError) -> Int64 {
        try PostgreSQLSetup(connection, schema).historyOffset(of: ["polystore_log", "polystore_commits"], storing: storing) {
            offset throws(StorageError) in
            try connection.execute("ALTER TABLE polystore_log ALTER COLUMN position SET DEFAULT \(Self.position(offset))")
        }
    }

    // MARK: Removing

    /// Removes all of Polystore's own tables and triggers, table by table. The tables of the other program are not changed.
    static func remove(_ connection: PostgreSQLConnection, _ schema: String) throws(StorageError) {
        let functions: SQLText = """
            SELECT p.proname::text FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
            WHERE n.nspname = \(bind: .string(schema), .string) AND p.proname LIKE 'polystore\\_note.%'
            """
        // Dropping a function drops the triggers that call it.
        for row in try connection.rows(functions, [.string]) {
            try connection.patiently(patience, orSaying: doubt) { () throws(StorageError) in
                try connection.execute("DROP FUNCTION \(SQLText.quoted(schema)).\(SQLText.quoted(row[0].text))() CASCADE")
            }
        }
        try connection.patiently(patience, orSaying: doubt) { () throws(StorageError) in
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
}
#endif
