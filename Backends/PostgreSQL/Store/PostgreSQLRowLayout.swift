#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// The column positions of the parts of a row in a result.
final class PostgreSQLRowLayout: Sendable {
    let sql: String
    let size = PostgreSQLFetchSize()
    /// Whether rows have texts or data, so that they can be long.
    let mayBeLong: Bool
    /// The statement that returns whether some rows of the table are long: the server moves values of rows that exceed a quarter of a page
    /// to the table's TOAST table (https://www.postgresql.org/docs/current/storage-toast.html). Views, foreign tables and tables with
    /// partitions or children count as long, because their rows are stored elsewhere, and so do tables whose values may stay in their rows
    /// however long they are: pglz shortens a value a hundredfold at best, lz4 far more.
    let longRows: PostgreSQLStep
    private let keyColumn: Int
    private let entityColumn: Int?
    private let versionColumn: Int
    private let entities: [(index: EntityIndex, columns: [Int])?]
    private let name: String

    init(_ select: SQLSelect, _ tables: SQLTables, root: EntityIndex) {
        sql = select.text.rendered(.postgreSQL).sql
        keyColumn = select.keyColumn
        entityColumn = select.entityColumn
        versionColumn = select.versionColumn
        name = tables.schema.entities[root].name
        var entities = [(index: EntityIndex, columns: [Int])?](repeating: nil, count: Int(tables.entityNumbers.max() ?? 0) + 1)
        for (index, columns) in select.slots {
            entities[select.entityColumn == nil ? 0 : Int(tables.entityNumbers[index])] = (index, columns)
        }
        self.entities = entities
        longRows = PostgreSQLStep(
            "SELECT relkind <> 'r' OR relhassubclass OR COALESCE(pg_relation_size(NULLIF(reltoastrelid, 0)), 0) > 0 OR EXISTS (SELECT"
                + " FROM pg_attribute AS a WHERE attrelid = c.oid AND attnum > 0 AND attlen = -1 AND (attstorage = 'm' OR"
                + " COALESCE(NULLIF(to_jsonb(a) ->> 'attcompression', ''), current_setting('default_toast_compression', true)) IN ('l', 'lz4')))"
                + " FROM pg_class AS c WHERE oid = to_regclass($1)",
            [PostgreSQLParameter(.value(.string(SQLText.quoted(tables.table(root))), .string))])
        mayBeLong = select.slots.contains { index, columns in
            zip(tables.schema[index].slots, columns).contains { slot, column in column >= 0 && (slot.type.isText || slot.type == .data) }
        }
    }

    /// Returns the key of a row of a result.
    func key(_ result: PostgreSQLResult, _ row: Int, _ batch: RowBatch) throws(StorageError) -> Int64 {
        try result.cell(row, keyColumn, batch).int
    }

    /// Adds a row of a result to a batch.
    func fill(_ batch: RowBatch, _ result: PostgreSQLResult, _ row: Int) throws(StorageError) {
        let number = if let entityColumn { Int(try result.cell(row, entityColumn, batch).int) } else { 0 }
        guard number >= 0, number < entities.count, let entity = entities[number] else {
            throw StorageError(
                .corrupted, "a row of \(name) has an unknown entity number; restore the database from a backup",
                details: .init(entity: name))
        }
        let key = try key(result, row, batch), version = try result.cell(row, versionColumn, batch).int
        let cells = batch.appendRow(key: key, version: version, entity: entity.index, slots: entity.columns.count)
        for (slot, column) in entity.columns.enumerated() { cells[slot] = column < 0 ? .null : try result.cell(row, column, batch) }
    }
}
#endif
