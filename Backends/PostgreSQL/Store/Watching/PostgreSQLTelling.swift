#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// The functions and triggers on the server that send change notifications, by NOTIFY in the transaction that makes the changes.
///
/// A trigger on the history reports every recorded commit. Triggers on the tables report statements of sessions that do not record their
/// changes: those of other programs, and those of Polystore during bulk loads and raw SQL. A Polystore session declares by a setting that
/// it records its changes. The condition of the trigger checks the setting, so that the function is not called.
///
/// A transaction that notifies holds a lock of the whole server while it commits, and other transactions cannot commit at the same time.
/// Therefore notifications are sent only while there are listeners. Each listener stores the end of its lease in a sequence, whose value
/// all sessions see immediately and which needs no cleanup when a listener is gone.
struct PostgreSQLTelling {
    /// The setting with the name of the program that a session belongs to.
    static let session = "polystore.session"
    /// The setting by which a session declares that it records its changes.
    private static let recording = "polystore.recording"
    /// The statement after which the rest of a transaction counts as unrecorded.
    static let unrecorded = "SET LOCAL \(recording) = 'off'"
    /// The statement after which the rest of a transaction sends no notifications, because the server cannot prepare a transaction that
    /// does.
    static let silent = "SET LOCAL polystore.preparing = 'on'"
    /// The statement after which a transaction reports unrecorded changes only at its end (`tellDeferred`), so that it can still be
    /// prepared.
    static let deferring = "SET LOCAL polystore.deferring = 'on'"
    /// The time in seconds for which notifications are sent after a request.
    private static let lease = 60
    private static let function = "polystore_tell"
    /// The name of the triggers.
    static var trigger: String { function }
    /// The setting by which the function records that there are changes to report at the end.
    private static let deferred = "polystore.deferred"

    private let connection: PostgreSQLConnection
    private let schema: String

    init(_ connection: PostgreSQLConnection, _ schema: String) {
        self.connection = connection
        self.schema = schema
    }

    /// Returns the statements by which a session identifies its program, and declares whether it records its changes.
    static func marking(_ name: String, records: Bool) -> String {
        "SET \(session) = '\(name)'; SET \(recording) = '\(records ? "on" : "off")'"
    }

    /// Returns the statement that reports changes that the history does not record, with the transaction.
    static func tellUnknown(_ schema: String) -> String {
        "SELECT pg_notify('\(PostgreSQLEvent.channel(schema))', 'unknown ' || coalesce(current_setting('\(session)', true), ''))"
    }

    /// Returns the statement that reports the unrecorded changes of a transaction's statements.
    static func tellDeferred(_ schema: String) -> String { "\(tellUnknown(schema)) WHERE current_setting('\(deferred)', true) = 'on'" }

    /// Returns the statement that reports a prepared commit that has ended, if there are listeners.
    static func telling(_ schema: String, isRecorded: Bool) -> String {
        "SELECT pg_notify('\(PostgreSQLEvent.channel(schema))', '\(isRecorded ? "history" : "unknown") ' "
            + "|| coalesce(current_setting('\(session)', true), '')) "
            + "FROM \(SQLText.quoted(schema)).polystore_watched WHERE last_value >= extract(epoch FROM clock_timestamp())::int8"
    }

    private func place(_ name: String) -> String { "\(SQLText.quoted(schema)).\(name)" }

    private static func literal(_ text: String) -> String { "'\(SQLText.doubling("'", in: text))'" }

    /// Creates missing functions and triggers in the current transaction: all of them, or those of new tables. Tables of other programs in
    /// the schema are not changed.
    func make(_ tables: SQLTables) throws(StorageError) {
        let epoch = "extract(epoch FROM clock_timestamp())::int8", channel = PostgreSQLEvent.channel(schema)
        // The functions also work for roles that may only read.
        let form = "SECURITY DEFINER SET search_path = pg_catalog, pg_temp"
        try connection.execute(
            """
            CREATE SEQUENCE IF NOT EXISTS \(place("polystore_watched")) MINVALUE 0 START 0;
            CREATE OR REPLACE FUNCTION \(place(Self.function))() RETURNS trigger LANGUAGE plpgsql \(form) AS $polystore$
            BEGIN
            IF coalesce(current_setting('polystore.preparing', true), '') <> 'on'
            AND (SELECT last_value FROM \(place("polystore_watched"))) >= \(epoch) THEN
            IF TG_ARGV[0] = 'unknown' AND coalesce(current_setting('polystore.deferring', true), '') = 'on' THEN
            PERFORM set_config('\(Self.deferred)', 'on', true);
            ELSE
            PERFORM pg_notify('\(channel)', TG_ARGV[0] || ' ' || coalesce(current_setting('\(Self.session)', true), ''));
            END IF;
            END IF;
            RETURN NULL;
            END $polystore$;
            CREATE OR REPLACE FUNCTION \(place("polystore_watch"))() RETURNS bool LANGUAGE plpgsql \(form) AS $polystore$
            DECLARE present int8 := \(epoch); until int8;
            BEGIN
            SELECT last_value INTO until FROM \(place("polystore_watched"));
            PERFORM setval(\(Self.literal(place("polystore_watched"))), present + \(Self.lease));
            RETURN until >= present;
            END $polystore$;
            \(triggers(tables))
            """)
    }

    /// Returns the statement that creates triggers on tables that have none.
    private func triggers(_ tables: SQLTables) -> String {
        let names = (["polystore_history"] + tables.tableNames).map(Self.literal).joined(separator: ", ")
        let condition = "current_setting(''\(Self.recording)'', true) IS DISTINCT FROM ''on''"
        let function = SQLText.doubling("'", in: place(Self.function))
        return """
            DO $polystore$
            DECLARE found record;
            BEGIN
            FOR found IN SELECT c.oid::regclass AS place, c.relname = 'polystore_history' AS is_history FROM pg_class c
            WHERE c.relnamespace = \(Self.literal(SQLText.quoted(schema)))::regnamespace AND c.relkind = 'r'
            AND c.relname IN (\(names))
            AND NOT EXISTS (SELECT FROM pg_trigger t WHERE t.tgrelid = c.oid AND t.tgname = '\(Self.function)') ORDER BY c.relname LOOP
            IF found.is_history THEN
            EXECUTE 'CREATE TRIGGER \(Self.function) AFTER INSERT ON ' || found.place
            || ' FOR EACH STATEMENT EXECUTE FUNCTION \(function)(''history'')';
            ELSE
            EXECUTE 'CREATE TRIGGER \(Self.function) AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON ' || found.place
            || ' FOR EACH STATEMENT WHEN (\(condition)) EXECUTE FUNCTION \(function)(''unknown'')';
            END IF;
            END LOOP;
            END $polystore$
            """
    }

    /// Returns the type of the trigger of a table in the system catalog: for each statement, after which kinds of changes.
    static func kind(of table: String) -> Int64 {
        // TRIGGER_TYPE_INSERT, _DELETE, _UPDATE and _TRUNCATE are 4, 8, 16 and 32; the absence of others means AFTER and STATEMENT.
        table == "polystore_history" ? 4 : 4 + 8 + 16 + 32
    }

    /// Makes the trigger of a table again, whatever it is now, and the functions if they are missing.
    func remake(_ table: String, _ tables: SQLTables) throws(StorageError) {
        try connection.execute("DROP TRIGGER IF EXISTS \(Self.function) ON \(place(SQLText.quoted(table)))")
        try make(tables)
    }

    /// Removes the triggers. An earlier version created them on all tables of the schema.
    func removeTriggers() throws(StorageError) {
        let places = try connection.rows(
            """
            SELECT t.tgrelid::regclass::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid \
            WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = \(bind: .string(schema), .string)) \
            AND t.tgname = \(bind: .string(Self.function), .string)
            """, [.string])
        for place in places { try connection.execute("DROP TRIGGER \(Self.function) ON \(place[0].text)") }
    }

    /// Returns whether a store has the functions and triggers.
    func isMade() throws(StorageError) -> Bool {
        let name = PostgreSQLParameter(.value(.string("\(place(Self.function))"), .string))
        return try connection.query("SELECT (to_regproc($1::text) IS NOT NULL)::int::int8", [name]).integer(0, 0) == 1
    }

    /// Creates the functions and triggers for a store of an earlier version, if the role may. It does not wait for a table that is locked
    /// for long: the next program that opens the store tries again.
    func makeWhereMissing() throws(StorageError) {
        if try isMade() { return }
        let lock = Int64(bitPattern: SchemaHash(of: "polystore setup \(schema)").words[0])
        try connection.execute("SELECT pg_advisory_lock(\(lock))")
        defer { try? connection.execute("SELECT pg_advisory_unlock(\(lock))") }
        if try isMade() { return }
        do throws(StorageError) {
            try connection.execute("BEGIN; SET LOCAL lock_timeout = '1s'")
            let metadata = try StoreMetadata(entries: PostgreSQLSetup(connection, schema).entries())
            try make(SQLTables(metadata.schema, .postgreSQL, entityNumbers: metadata.entityNumbers))
            try connection.execute("COMMIT")
        } catch {
            try? connection.execute("ROLLBACK")
            throw error
        }
    }

    /// Requests notifications for the duration of the lease. Returns whether they have been active until now.
    func watch() throws(StorageError) -> Bool {
        try connection.query("SELECT \(place("polystore_watch"))()::int::int8", []).integer(0, 0) == 1
    }

    /// Returns the transactions that are changing rows of the store, by the server's virtual transaction IDs: each holds a lock on the
    /// tables until it ends. Statements that change rows take the first of the lock modes, those that rewrite or truncate a table the
    /// second. Readers, VACUUM and the predicate locks of serializable transactions, which the server keeps beyond their end, have other
    /// modes.
    func writers() throws(StorageError) -> Set<String> {
        let names = try connection.text(
            """
            SELECT string_agg(DISTINCT virtualtransaction, ' ') FROM pg_locks WHERE locktype = 'relation' AND granted
            AND mode IN ('RowExclusiveLock', 'AccessExclusiveLock') AND pid IS DISTINCT FROM pg_backend_pid()
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            AND relation IN (SELECT oid FROM pg_class WHERE relkind = 'r' AND relnamespace = \(Self.literal(SQLText.quoted(schema)))::regnamespace)
            """)
        return Set((names ?? "").split(separator: " ").map(String.init))
    }
}
#endif
