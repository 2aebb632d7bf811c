#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// What lies on the server so that changes are told, by NOTIFY in the transaction that makes them.
///
/// A trigger on the history tells of every commit that is recorded there. Triggers on the tables tell of statements of sessions that record
/// nothing: other programs, and ours while they load in bulk or run a statement of the program. A session of ours says that it records
/// what it writes by a setting; the condition of a trigger looks at it, so that the function is not called.
///
/// A transaction that notifies holds a lock of the whole server while it commits, and others cannot commit together with it. So nothing is
/// told unless somebody listens: those who do say until when, in a sequence, which everybody sees at once and which needs no cleaning up
/// when a listener is gone.
struct PostgreSQLTelling {
    /// The setting that holds the name of the program that a session belongs to.
    static let session = "polystore.session"
    /// The setting by which a session says that it records what it writes.
    private static let recording = "polystore.recording"
    /// The statement after which the rest of a transaction counts as not recorded.
    static let unrecorded = "SET LOCAL \(recording) = 'off'"
    /// The statement after which the rest of a transaction notifies nobody: the server prepares no transaction that does.
    static let silent = "SET LOCAL polystore.preparing = 'on'"
    /// The statement after which a transaction notifies of what it does not record at its end (`tellDeferred`), so that it can still be prepared.
    static let deferring = "SET LOCAL polystore.deferring = 'on'"
    /// For so many seconds changes are told after somebody has asked for it.
    private static let lease = 60
    private static let function = "polystore_tell"
    /// The setting by which the function says that there is something to notify of at the end.
    private static let deferred = "polystore.deferred"

    private let connection: PostgreSQLConnection
    private let schema: String

    init(_ connection: PostgreSQLConnection, _ schema: String) {
        self.connection = connection
        self.schema = schema
    }

    /// The statements by which a session of a program says whose it is, and whether it records what it writes.
    static func marking(_ name: String, records: Bool) -> String {
        "SET \(session) = '\(name)'; SET \(recording) = '\(records ? "on" : "off")'"
    }

    /// The statement that tells that more has changed than the history says, with the transaction.
    static func tellUnknown(_ schema: String) -> String {
        "SELECT pg_notify('\(PostgreSQLEvent.channel(schema))', 'unknown ' || coalesce(current_setting('\(session)', true), ''))"
    }

    /// The statement that notifies of what the statements of a transaction have changed without a record of it.
    static func tellDeferred(_ schema: String) -> String { "\(tellUnknown(schema)) WHERE current_setting('\(deferred)', true) = 'on'" }

    /// The statement that notifies of a commit that was prepared and has ended, if anybody listens.
    static func telling(_ schema: String, isRecorded: Bool) -> String {
        "SELECT pg_notify('\(PostgreSQLEvent.channel(schema))', '\(isRecorded ? "history" : "unknown") ' "
            + "|| coalesce(current_setting('\(session)', true), '')) "
            + "FROM \(SQLText.quoted(schema)).polystore_watched WHERE last_value >= extract(epoch FROM clock_timestamp())::int8"
    }

    private func place(_ name: String) -> String { "\(SQLText.quoted(schema)).\(name)" }

    private static func literal(_ text: String) -> String { "'\(SQLText.doubling("'", in: text))'" }

    /// Makes what is missing, in the transaction that runs: all of it, or what tables need that are new. Those of others in the schema are left
    /// alone.
    func make(_ tables: SQLTables) throws(StorageError) {
        let epoch = "extract(epoch FROM clock_timestamp())::int8", channel = PostgreSQLEvent.channel(schema)
        // The functions work for roles that may do no more than read.
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

    /// Makes the triggers on tables that have none.
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

    /// Removes the triggers: a version before put them on all tables of the schema.
    func removeTriggers() throws(StorageError) {
        let places = try connection.rows(
            """
            SELECT t.tgrelid::regclass::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid \
            WHERE c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = \(bind: .string(schema), .string)) \
            AND t.tgname = \(bind: .string(Self.function), .string)
            """, [.string])
        for place in places { try connection.execute("DROP TRIGGER \(Self.function) ON \(place[0].text)") }
    }

    /// Whether a store has it.
    func isMade() throws(StorageError) -> Bool {
        let name = PostgreSQLParameter(.value(.string("\(place(Self.function))"), .string))
        return try connection.query("SELECT (to_regproc($1::text) IS NOT NULL)::int::int8", [name]).integer(0, 0) == 1
    }

    /// Makes it for a store of a version that told nothing, where the role may. A table that is in use for long is not waited for: whoever
    /// opens the store next tries again.
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

    /// Asks for changes to be told for some time; whether they were told until now.
    func watch() throws(StorageError) -> Bool {
        try connection.query("SELECT \(place("polystore_watch"))()::int::int8", []).integer(0, 0) == 1
    }

    /// The transactions that are changing rows of the store, by the server's names for them: each holds a lock on the tables until it ends.
    /// Statements that change rows take the first of the modes, those that rewrite or empty a table the other. Readers, VACUUM and what
    /// serializable transactions have read, which the server remembers beyond their end, have others.
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
