#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// An encoder of a hierarchy's rows for `COPY … FROM STDIN BINARY`.
final class PostgreSQLCopyEncoder {
    let root: EntityIndex
    let sql: String
    let buffer = WireBuffer(capacity: 1 << 17)
    private let types: [ValueType]
    private let hasNumber: Bool
    private let numbers: [Int16]
    /// For each entity, the slot of each column; -1 for a column without one.
    private let slots: [[Int]]

    init(_ tables: SQLTables, _ root: EntityIndex) {
        let schema = tables.schema, description = schema[root]
        self.root = root
        types = description.columns.map(\.type)
        hasNumber = description.isHierarchy
        numbers = tables.entityNumbers
        var slots = [[Int]](repeating: [], count: schema.entities.count)
        for entity in description.family {
            slots[entity] = [Int](repeating: -1, count: description.columns.count)
            for (slot, content) in schema[entity].slots.enumerated() { slots[entity][content.column] = slot }
        }
        self.slots = slots
        var columns = ["\"_id\""]
        if description.isHierarchy { columns.append("\"_entity\"") }
        columns.append("\"_version\"")
        columns += description.columns.indices.map { SQLText.quoted(tables.column(root: root, $0)) }
        sql = "COPY \(SQLText.quoted(tables.table(root)))(\(columns.joined(separator: ", "))) FROM STDIN BINARY"
        (Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0]).withUnsafeBytes(buffer.append)
    }

    /// Appends a row.
    func append(_ row: borrowing RowView) {
        buffer.append(Int16(truncatingIfNeeded: types.count &+ (hasNumber ? 3 : 2)))
        PostgreSQLCodec.appendField(.int(row.key), .int64, to: buffer)
        if hasNumber { PostgreSQLCodec.appendField(.int(Int64(numbers[row.entity])), .int16, to: buffer) }
        PostgreSQLCodec.appendField(.int(row.version), .int64, to: buffer)
        let slots = slots[row.entity]
        for column in types.indices {
            let slot = slots[column]
            PostgreSQLCodec.appendField(slot < 0 ? .null : row[slot], types[column], to: buffer)
        }
    }

    /// Appends the end mark.
    func finish() { buffer.append(Int16(-1)) }
}
#endif
