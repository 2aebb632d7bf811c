#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// A transaction that makes tables as another program would declare them.
final class PostgreSQLPlainWriter: PlainTablesWriter {
    private let tables: PlainTables
    private let connection: PostgreSQLConnection
    private let schema: String
    /// A queue for requests to cancel.
    private let cancelling = DispatchQueue(label: "polystore-cancel")
    private var isOpen = true

    init(
        _ connection: PostgreSQLConnection, _ schema: String, _ tables: PlainTables, _ options: WriteOptions
    ) throws(StorageError) {
        self.connection = connection
        self.schema = schema
        self.tables = tables
        do throws(StorageError) {
            try connection.checkVersion()
            try connection.checkEncoding()
            connection.begin(options.limit, cancelling)
            try connection.execute("BEGIN")
            if let obstacle = try Self.obstacle(to: tables, connection, schema) { throw obstacle }
            if try connection.rows(Self.schemaExists(schema), [.int64]).isEmpty {
                try connection.execute("CREATE SCHEMA \(SQLText.quoted(schema))")
            }
            for statement in tables.statements { try connection.execute(statement) }
        } catch {
            end()
            throw error
        }
    }

    deinit { end() }

    private static func schemaExists(_ schema: String) -> SQLText {
        "SELECT 1::int8 FROM pg_namespace WHERE nspname = \(bind: .string(schema), .string)"
    }

    /// Returns the error for a schema that is a store, or contains something with the name of one of the tables.
    static func obstacle(
        to tables: PlainTables, _ connection: PostgreSQLConnection, _ schema: String
    ) throws(StorageError) -> StorageError? {
        let text: SQLText = """
            SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = \(bind: .string(schema), .string)
            """
        let found = Set(try connection.rows(text, [.string]).map { $0[0].text })
        if found.contains("polystore_metadata") {
            return StorageError(
                .alreadyExists, "the schema \"\(schema)\" is a Polystore store; set another schema for plain tables with x-schema")
        }
        let names = tables.tables.map(\.name) + tables.pairs.map(\.name)
        return names.first(where: found.contains).map { .tableExists($0, in: "the schema \"\(schema)\"") }
    }

    // MARK: Rows

    func load(_ table: Int, _ batch: RowBatch, _ rows: Range<Int>) throws(StorageError) {
        let description = tables.tables[table], slots = description.columns.map(\.slot)
        for index in rows { _ = try PostgreSQLRows.bytes(batch.row(index), slots) }
        let encoder = try explaining { () throws(StorageError) in
            try connection.copy(table) { PostgreSQLCopyEncoder(description, number: table, entities: tables.schema.entities.count) }
        }
        for index in rows {
            encoder.append(batch.row(index))
            if encoder.buffer.count > 1 << 16 { try connection.send(encoder.buffer) }
        }
    }

    func load(pairs table: Int, _ pairs: [LinkPair]) throws(StorageError) {
        let description = tables.pairs[table], number = tables.tables.count + table
        let encoder = try explaining { () throws(StorageError) in
            try connection.copy(number) { PostgreSQLCopyEncoder(description, number: number) }
        }
        for pair in pairs {
            encoder.append(pair)
            if encoder.buffer.count > 1 << 16 { try connection.send(encoder.buffer) }
        }
    }

    /// Runs `work`, and names the constraint of the tables that rows violate. The server reports it at the end of a copy.
    private func explaining<Result>(_ work: () throws(StorageError) -> Result) throws(StorageError) -> Result {
        do throws(StorageError) { return try work() } catch {
            guard let cause = error.cause as? PostgreSQLError.Cause, cause.state.hasPrefix("23") else { throw error }
            let rule = cause.constraint ?? cause.column ?? "a rule", table = cause.table ?? "a new table"
            throw StorageError(
                .validationFailed, "a row of the table \(table) violates \(rule); nothing was written",
                details: .init(entity: cause.table, constraint: cause.constraint), cause: error)
        }
    }

    // MARK: The end

    func finish(nextKeys: [Int64]) throws(StorageError) {
        try explaining { () throws(StorageError) in
            try connection.endCopy()
            for statement in tables.finishing { try connection.execute(statement) }
        }
        for (table, key) in zip(tables.tables, nextKeys) where key > 1 {
            try connection.execute(
                "ALTER TABLE \(SQLText.quoted(table.name)) ALTER COLUMN \(SQLText.quoted(table.key)) RESTART WITH \(key)")
        }
    }

    func copy() throws(StorageError) -> PlainCopy {
        var catalog = PostgreSQLCatalogReader(connection, schema: schema)
        let source = try catalog.catalog().source(), metadata = try StoreMetadata(source, identity: schema)
        let views = source.views(SQLTables(source.schema, .postgreSQL, entityNumbers: metadata.entityNumbers)).joined(separator: ";\n")
        try PostgreSQLForeign.explaining(schema) { () throws(StorageError) in
            try connection.execute(PostgreSQLForeign.refusal)
            try connection.execute(views)
        }
        let core = PostgreSQLForeignCore(metadata, schema: schema, durability: .full, readers: 1) { throw StorageError.isForeign }
        return try tables.copy(source, Reader(core, connection))
    }

    /// A session of a transaction that continues after it.
    private final class Reader: PostgreSQLReader {
        override func giveBack() {}
    }

    func commit() throws(StorageError) {
        try connection.beginCommit()
        isOpen = false
        try connection.commit(
            orSaying: "the connection was lost during COMMIT; check whether the schema \"\(schema)\" contains the tables")
    }

    func end() {
        guard isOpen else { return }
        isOpen = false
        connection.abandonCopy()
        _ = connection.end { connection throws(StorageError) in
            try connection.execute("ROLLBACK")
            return true
        }
    }
}
#endif
