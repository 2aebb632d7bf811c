#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// Rows of one entity in the form of `COPY … FROM STDIN BINARY`.
final class PostgreSQLCopyEncoder {
    let sql: String
    let buffer = WireBuffer(capacity: 1 << 17)
    private let types: [ValueType]
    private let number: Int16?

    init(_ tables: SQLTables, _ entity: EntityIndex) {
        let description = tables.schema[entity]
        types = description.slots.map(\.type)
        number = description.isHierarchy ? tables.entityNumbers[entity] : nil
        var columns = ["\"_id\""]
        if description.isHierarchy { columns.append("\"_entity\"") }
        columns.append("\"_version\"")
        columns += description.slots.indices.map { SQLText.quoted(tables.column(entity, $0)) }
        sql = "COPY \(SQLText.quoted(tables.table(entity)))(\(columns.joined(separator: ", "))) FROM STDIN BINARY"
        (Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0]).withUnsafeBytes(buffer.append)
    }

    /// Adds a row.
    func append(_ row: borrowing RowView) {
        buffer.append(Int16(types.count + (number == nil ? 2 : 3)))
        PostgreSQLCodec.appendField(.int(row.key), .int64, to: buffer)
        if let number { PostgreSQLCodec.appendField(.int(Int64(number)), .int16, to: buffer) }
        PostgreSQLCodec.appendField(.int(row.version), .int64, to: buffer)
        for slot in types.indices { PostgreSQLCodec.appendField(row[slot], types[slot], to: buffer) }
    }

    /// Adds the end mark.
    func finish() { buffer.append(Int16(-1)) }
}
#endif
