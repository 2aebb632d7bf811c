#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// An encoder of rows or pairs of one table for `COPY … FROM STDIN BINARY`.
final class PostgreSQLCopyEncoder {
    /// The number that identifies the table: the root of a hierarchy, or the position of another table.
    let root: EntityIndex
    let sql: String
    let buffer = WireBuffer(capacity: 1 << 17)
    /// The table whose rows are counted and looked for at the end of the copy, as SQL; nil for one that the transaction has made.
    let table: String?
    /// The keys of the rows.
    private(set) var keys: [Int64] = []
    private let schema: Schema?
    /// The entities of the rows in the table of a hierarchy.
    private var entities: [Int32] = []
    private let types: [ValueType]
    private let hasNumber: Bool
    private let hasVersion: Bool
    private let numbers: [Int16]
    /// For each entity, the slot of each column; -1 for a column without one.
    private let slots: [[Int]]

    init(_ tables: SQLTables, _ root: EntityIndex) {
        let schema = tables.schema, description = schema[root]
        self.root = root
        self.schema = schema
        table = SQLText.quoted(tables.table(root))
        types = description.columns.map(\.type)
        hasNumber = description.isHierarchy
        hasVersion = true
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
        sql = Self.sql(tables.table(root), columns)
        begin()
    }

    /// Creates an encoder for a table that another program could have made.
    init(_ table: PlainTables.Table, number: Int, entities: Int) {
        root = number
        (self.table, schema) = (nil, nil)
        types = table.columns.map(\.type)
        (hasNumber, hasVersion) = (false, false)
        numbers = []
        var slots = [[Int]](repeating: [], count: entities)
        slots[table.entity] = table.columns.map(\.slot)
        self.slots = slots
        sql = Self.sql(table.name, ([table.key] + table.columns.map(\.name)).map(SQLText.quoted))
        begin()
    }

    /// Creates an encoder for a table of pairs that another program could have made.
    init(_ pairs: PlainTables.Pairs, number: Int) {
        root = number
        (table, schema) = (nil, nil)
        (hasNumber, hasVersion) = (false, false)
        (types, numbers, slots) = ([], [], [])
        sql = Self.sql(pairs.name, [pairs.owner, pairs.member].map(SQLText.quoted))
        begin()
    }

    private static func sql(_ table: String, _ columns: [String]) -> String {
        "COPY \(SQLText.quoted(table))(\(columns.joined(separator: ", "))) FROM STDIN BINARY"
    }

    private func begin() {
        (Array("PGCOPY\n".utf8) + [0xff, 0x0d, 0x0a, 0, 0, 0, 0, 0, 0, 0, 0, 0]).withUnsafeBytes(buffer.append)
    }

    /// Appends a row.
    func append(_ row: borrowing RowView) {
        if table != nil { keys.append(row.key) }
        if hasNumber { entities.append(Int32(truncatingIfNeeded: row.entity)) }
        buffer.append(Int16(truncatingIfNeeded: types.count &+ (hasNumber ? 3 : hasVersion ? 2 : 1)))
        PostgreSQLCodec.appendField(.int(row.key), .int64, to: buffer)
        if hasNumber { PostgreSQLCodec.appendField(.int(Int64(numbers[row.entity])), .int16, to: buffer) }
        if hasVersion { PostgreSQLCodec.appendField(.int(row.version), .int64, to: buffer) }
        let slots = slots[row.entity]
        for column in types.indices {
            let slot = slots[column]
            PostgreSQLCodec.appendField(slot < 0 ? .null : row[slot], types[column], to: buffer)
        }
    }

    /// Appends a pair.
    func append(_ pair: LinkPair) {
        buffer.append(Int16(2))
        PostgreSQLCodec.appendField(.int(pair.owner), .int64, to: buffer)
        PostgreSQLCodec.appendField(.int(pair.member), .int64, to: buffer)
    }

    /// Returns the error for a row that is not there after the copy; nil if all are.
    ///
    /// - Parameter there: The keys of the rows of the table.
    func refusal(_ there: Set<Int64>) -> StorageError? {
        guard let schema, let index = keys.firstIndex(where: { !there.contains($0) }) else { return nil }
        return .ignored(hasNumber ? Int(entities[index]) : root, schema, key: keys[index])
    }

    /// Appends the end mark.
    func finish() { buffer.append(Int16(-1)) }
}
#endif
