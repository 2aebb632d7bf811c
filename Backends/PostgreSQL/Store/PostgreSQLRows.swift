#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// Rows of a batch that are sent to the server together.
struct PostgreSQLRows {
    /// The size of the rows in one statement in bytes, unless a single row is larger: both sides keep a complete statement in memory.
    static let usualBytes = 1 << 24
    /// The maximum size of a row or of the parameters of a statement in bytes. Servers accept slightly larger messages.
    static let mostBytes = 1_000_000_000

    let batch: RowBatch
    let range: Range<Int>
    let bytes: Int

    var keys: [Int64] { range.map(batch.key) }

    /// Whether the rows should be sent in pieces instead of as parameters.
    var isLarge: Bool { bytes > Self.usualBytes }

    /// Returns keys, versions and the values of slots as one array each.
    func parameters(_ entity: EntityIndex, _ slots: [Int], _ schema: Schema) -> [PostgreSQLParameter] {
        [PostgreSQLParameter(keys: keys), PostgreSQLParameter(keys: range.map { batch.row($0).version })]
            + slots.map { slot in PostgreSQLParameter(array: range.map { batch.row($0)[slot] }, schema[entity].slots[slot].type) }
    }

    /// Returns the SQL of a table that the server creates from these parameters.
    static func unnest(_ entity: EntityIndex, _ slots: [Int], _ schema: Schema) -> String {
        let types = ["int8", "int8"] + slots.map { PostgreSQLCodec.column(schema[entity].slots[$0].type).name }
        return "unnest(\(types.enumerated().map { "$\($0 + 1)::\($1)[]" }.joined(separator: ", ")))"
    }

    /// Returns the size of a row's values in bytes.
    ///
    /// - Throws: `valueTooLarge` if no statement can contain them.
    static func bytes(_ row: borrowing RowView, _ slots: [Int]) throws(StorageError) -> Int {
        var bytes = 0
        for slot in slots { bytes += row[slot].kind == .text || row[slot].kind == .blob ? Int(row[slot].length) : 8 }
        if bytes <= mostBytes { return bytes }
        throw StorageError(
            .valueTooLarge, "the object \(row.key) has \(bytes) bytes; the server accepts at most \(mostBytes)",
            details: .init(keys: [row.key]))
    }
}

extension RowSource {
    /// Calls `body` with parts of at most `scratch.capacity` rows and of the maximum size of one statement.
    func forEachPart(
        _ scratch: RowBatch, _ slots: [Int], _ body: (PostgreSQLRows) throws(StorageError) -> Void
    ) throws(StorageError) {
        try forEachBatch(scratch) { batch throws(StorageError) in
            var start = 0, bytes = 0
            for index in 0..<batch.count {
                let more = try PostgreSQLRows.bytes(batch.row(index), slots)
                if index > start, bytes + more > PostgreSQLRows.usualBytes {
                    try body(PostgreSQLRows(batch: batch, range: start..<index, bytes: bytes))
                    (start, bytes) = (index, 0)
                }
                bytes += more
            }
            try body(PostgreSQLRows(batch: batch, range: start..<batch.count, bytes: bytes))
        }
    }
}
#endif
