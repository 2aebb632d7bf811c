#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// A schema of another program that is used in place, with connections whose views have the layout of Polystore's own tables.
///
/// The views have names different from the tables', because functions of the owner must find the tables and not the views.
final class PostgreSQLInPlace: Sendable {
    /// The metadata of the store.
    let metadata: StoreMetadata
    /// The remarks on parts that are left out or read differently.
    let remarks: [CatalogRemark]
    /// The tables for writing.
    let tables: InPlaceTables
    /// The views, as the tables of the model.
    let views: SQLTables
    /// The constraints and indexes of the tables.
    let rules: PostgreSQLInPlaceRules
    /// The sequence that generates the keys of a table, as text for `nextval`; nil where the table has none.
    let sequences: [String?]
    /// The state of the triggers on the tables: the SQL that determines it and `answers`, and its value when the store was opened; nil
    /// where Polystore has no tables in the schema.
    let watch: (state: String, answers: String, found: String)?
    /// The triggers of the owner that may undo a change, as the newest transaction has found them.
    let answers = Mutex(PostgreSQLInPlaceAnswers())
    /// Whether every table has triggers. A store that is only read creates none.
    let isWatched: Bool
    /// The difference between positions of the log and transaction IDs.
    let historyOffset: Int64
    /// The cluster of the server; nil where the role may not read it.
    let cluster: String?
    /// The keys that sequences have generated and no session has reserved yet.
    let keys = Mutex<[EntityIndex: [Int64]]>([:])
    private let conninfo: String
    private let schema: String
    private let durability: Durability
    private let preparation: String

    private static let standIns = """
        CREATE TEMP VIEW polystore_notes AS SELECT ''::text AS name, ''::bytea AS value WHERE false;
        CREATE TEMP VIEW polystore_commits AS SELECT 0::int8 AS position, 0::int8 AS time, ''::text AS author WHERE false;
        CREATE TEMP VIEW polystore_log AS SELECT 0::int8 AS position, 0::int8 AS number, 0::int8 AS time, ''::text AS source, 0::int8 AS key,
            ''::text AS kind, ''::text AS changed WHERE false;
        """

    /// Reads the catalog of a schema, and creates Polystore's own tables and triggers beside its tables.
    ///
    /// - Throws: `schemaMismatch` for another schema than that of the tables. Nothing was created then.
    init(
        conninfo: String, schema: String, durability: Durability, _ request: OpenRequest, readOnly: Bool
    ) throws(StorageError) {
        let connection = try PostgreSQLConnection(conninfo: conninfo, schema: schema)
        try connection.checkVersion()
        try connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        var reader = PostgreSQLCatalogReader(connection, schema: schema, isInPlace: true)
        var catalog = try reader.catalog()
        let rows = PostgreSQLCatalogRows(connection)
        try catalog.leaveOutUnfit(request, option: "x-catalog=foreign") { tables throws(StorageError) in
            try tables.map { table throws(StorageError) in try Self.remedy(table, schema, rows) }.joined(separator: " ")
        }
        var source = try catalog.source()
        try source.adopt(request)
        try StoreMetadata.check(request, of: source.schema)
        let tables = InPlaceTables(source), identity = try rows.database()
        rules = try PostgreSQLInPlaceRules(connection, schema, tables)
        var sequences: [String?] = []
        for table in tables.tables { sequences.append(try rows.sequence(schema, table.name, table.key)) }
        self.sequences = sequences
        self.tables = tables
        try connection.execute("COMMIT")
        let setup = try PostgreSQLInPlaceSetup(connection, schema, tables, sequences)
        if !readOnly { try setup.install() }
        let id = try PostgreSQLInPlaceSetup.storeID(connection, schema)
        cluster = connection.cluster
        historyOffset = id == nil ? 0 : try setup.historyOffset(storing: !readOnly)
        let found = id == nil ? nil : try connection.text("SELECT \(setup.state)")
        watch = found.map { (setup.state, setup.answers, $0) }
        isWatched = found?.hasSuffix(".\(setup.triggerCount)") ?? true
        if let id {
            for table in tables.schema.descriptions { source.rows[table.name]?.version = Self.version(tables.tables[table.index], schema) }
            metadata = try StoreMetadata(source, storeID: id)
        } else {
            metadata = try StoreMetadata(source, identity: "\(identity)\n\(schema)\n\(source.identityHash)")
        }
        remarks = source.remarks
        let plain = SQLTables(metadata.schema, .postgreSQL, entityNumbers: metadata.entityNumbers)
        let names = tables.schema.roots.map { plain.table($0) } + tables.schema.links.indices.map { plain.table(link: $0) }
        let moved = Dictionary(names.map { ($0, plain.name("polystore_view." + $0)) }, uniquingKeysWith: { first, _ in first })
        views = SQLTables(metadata.schema, .postgreSQL, entityNumbers: metadata.entityNumbers, moved: moved)
        self.conninfo = conninfo
        self.durability = durability
        self.schema = schema
        preparation =
            ([PostgreSQLForeign.refusal, PostgreSQLStoring.function] + source.views(views)).joined(separator: ";\n")
            + (id == nil ? ";\n" + Self.standIns : "")
    }

    /// Returns the statements that give a table an integer primary key. The former one becomes a unique constraint, to which references are
    /// made again.
    private static func remedy(
        _ table: CatalogTable, _ schema: String, _ rows: PostgreSQLCatalogRows
    ) throws(StorageError) -> String {
        let taken = table.columns.map(\.name), key = taken.contains("id") ? "row_id" : "id"
        let name = "\(SQLText.quoted(schema)).\(SQLText.quoted(table.name))"
        let addition = "ADD COLUMN \(key) bigint GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY"
        guard let former = try rows.keyConstraint(schema, table.name) else { return "ALTER TABLE \(name) \(addition);" }
        let columns = table.primaryKey.map(SQLText.quoted).joined(separator: ", ")
        let drops = former.references.map { "ALTER TABLE \($0[0]) DROP CONSTRAINT \($0[1]); " }.joined()
        let additions = former.references.map { " ALTER TABLE \($0[0]) ADD CONSTRAINT \($0[1]) \($0[2]);" }.joined()
        let exchange = "DROP CONSTRAINT \(SQLText.quoted(former.name)), ADD UNIQUE (\(columns)), \(addition);"
        return "BEGIN; \(drops)ALTER TABLE \(name) \(exchange)\(additions) COMMIT;"
    }

    /// Returns the version of a row. A row that has not changed since the schema is used in place has version 1.
    private static func version(_ table: InPlaceTables.Table, _ schema: String) -> String {
        let name = SQLText.doubling("'", in: table.name), key = SQLText.quoted(table.key)
        return "coalesce((SELECT v.version FROM \(SQLText.quoted(schema)).polystore_versions AS v "
            + "WHERE v.source = '\(name)' AND v.key = t.\(key)), 1::int8)"
    }

    /// Opens a connection that reads the tables in the layout of Polystore's own tables and writes the tables themselves.
    func connection() throws(StorageError) -> PostgreSQLConnection {
        let connection = try PostgreSQLConnection(conninfo: conninfo, schema: schema, durability: durability)
        do throws(StorageError) {
            try PostgreSQLForeign.explaining(schema) { () throws(StorageError) in try connection.execute(preparation) }
        } catch {
            // A table or a column no longer exists.
            guard ["42P01", "42703", "3F000"].contains((error.cause as? PostgreSQLError.Cause)?.state) else { throw error }
            throw Self.wasChanged(error)
        }
        return connection
    }

    /// Returns the error for tables, or Polystore's own data beside them, that the owner has changed.
    static func wasChanged(_ cause: StorageError? = nil) -> StorageError {
        StorageError(
            .schemaMismatch,
            "the tables of the database, or Polystore's triggers and tables, were changed by another program; open the store again",
            cause: cause)
    }

    /// Returns the sequence of a table's keys, as text for `nextval`: the table's own, or Polystore's.
    func sequence(_ entity: EntityIndex) -> String {
        sequences[entity] ?? PostgreSQLInPlaceSetup.sequence(tables.tables[entity].name, schema)
    }

    /// Removes Polystore's own tables, triggers and functions.
    static func remove(conninfo: String, schema: String) throws(StorageError) {
        try PostgreSQLInPlaceSetup.remove(try PostgreSQLConnection(conninfo: conninfo, schema: schema), schema)
    }
}

extension PostgreSQLCatalogRows {
    /// Returns the sequence that generates the default values of a column.
    func sequence(_ schema: String, _ table: String, _ column: String) throws(StorageError) -> String? {
        let text: SQLText = """
            SELECT format('%I.%I', sn.nspname, s.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = \(bind: .string(column), .string)
            LEFT JOIN pg_attrdef f ON f.adrelid = c.oid AND f.adnum = a.attnum
            JOIN pg_depend d ON d.classid = 'pg_attrdef'::regclass AND d.objid = f.oid AND d.refclassid = 'pg_class'::regclass
                OR d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.refobjid = c.oid
                    AND d.refobjsubid = a.attnum AND d.deptype = 'i'
            JOIN pg_class s ON s.relkind = 'S' AND s.oid IN (d.refobjid, d.objid) JOIN pg_namespace sn ON sn.oid = s.relnamespace
            WHERE n.nspname = \(bind: .string(schema), .string) AND c.relname = \(bind: .string(table), .string) LIMIT 1
            """
        return try connection.rows(text, [.string]).first?.first?.text
    }
}
#endif
