#if PostgreSQL
internal import PolystoreSQL
package import PolystoreStorage
internal import Synchronization

extension PostgreSQLStore: PlainTablesStorage {
    /// The schema of plain tables: the one that was named, or that in which a store looks for the tables of other programs.
    private var schemaOfTables: String { plainSchema.withLock { $0 } ?? schema }

    package func plainTables(_ schema: Schema) -> PlainTables {
        var tables = PlainTables(schema, .postgreSQL)
        if schemaOfTables != PostgreSQLCatalog.foreign.defaultSchema {
            let name = SQLText.quoted(schemaOfTables)
            tables.preamble = ["CREATE SCHEMA IF NOT EXISTS \(name)", "SET search_path = \(name)"]
        }
        return tables
    }

    package func obstacle(to tables: PlainTables) throws(StorageError) -> StorageError? {
        if isReadOnly { return StorageError(.readOnly, "the target is only read; remove the option x-mode=ro") }
        let connection = try PostgreSQLConnection(conninfo: conninfo, schema: schemaOfTables)
        return try PostgreSQLPlainWriter.obstacle(to: tables, connection, schemaOfTables)
    }

    package func beginTables(
        _ tables: PlainTables, accepting losses: Set<String>, _ options: WriteOptions
    ) throws(StorageError) -> any PlainTablesWriter {
        if isReadOnly, let obstacle = try obstacle(to: tables) { throw obstacle }
        let connection = try PostgreSQLConnection(conninfo: conninfo, schema: schemaOfTables, durability: durability)
        return try PostgreSQLPlainWriter(connection, schemaOfTables, tables, options)
    }
}
#endif
