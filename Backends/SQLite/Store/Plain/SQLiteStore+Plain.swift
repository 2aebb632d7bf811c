#if SQLite
internal import PolystoreFoundation
internal import PolystoreSQL
package import PolystoreStorage

extension SQLiteStore: PlainTablesStorage {
    package func plainTables(_ schema: Schema) -> PlainTables { PlainTables(schema, .sqlite) }

    package func obstacle(to tables: PlainTables) throws(StorageError) -> StorageError? {
        if place.checksums == .required {
            return StorageError(.invalidConfiguration, "checksums are only available for files that Polystore creates; remove the option")
        }
        if isReadOnly { return StorageError(.readOnly, "the target is only read; remove the option mode=ro") }
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        return try SQLitePlainWriter.obstacle(to: tables, place.reader())
    }

    package func beginTables(
        _ tables: PlainTables, accepting losses: Set<String>, _ options: WriteOptions
    ) throws(StorageError) -> any PlainTablesWriter {
        if let obstacle = try obstacle(to: tables) { throw obstacle }
        return try SQLitePlainWriter(place, tables, losses, options)
    }
}
#endif
