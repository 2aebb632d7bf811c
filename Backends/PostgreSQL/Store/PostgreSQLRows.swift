#if PostgreSQL
internal import PolystoreSQL
internal import PolystoreStorage

/// Rows of a batch that go to the server together.
struct PostgreSQLRows {
    /// So many bytes of rows go in one statement, unless one row is larger: both sides hold a statement whole.
    static let usualBytes = 1 << 24
    /// The most bytes that a row or the parameters of a statement may have; servers take messages of a little more.
    static let mostBytes = 1_000_000_000

    let batch: RowBatch
    let range: Range<Int>
    let bytes: Int

    var keys: [Int64] { range.map(batch.key) }

    /// Whether the rows are better sent piece by piece than held as parameters.
    var isLarge: Bool { bytes > Self.usualBytes }

    /// Keys, versions and the values of slots, one array for each.
    func parameters(_ entity: EntityIndex, _ slots: [Int], _ schema: Schema) -> [PostgreSQLParameter] {
        [PostgreSQLParameter(keys: keys), PostgreSQLParameter(keys: range.map { batch.row($0).version })]
            + slots.map { slot in PostgreSQLParameter(array: range.map { batch.row($0)[slot] }, schema[entity].slots[slot].type) }
    }

    /// Rows as a table that the server makes of these parameters.
    static func unnest(_ entity: EntityIndex, _ slots: [Int], _ schema: Schema) -> String {
        let types = ["int8", "int8"] + slots.map { SQLDialect.castName(schema[entity].slots[$0].type) }
        return "unnest(\(types.enumerated().map { "$\($0 + 1)::\($1)[]" }.joined(separator: ", ")))"
    }

    /// The bytes of values of a row.
    ///
    /// - Throws: `valueTooLarge` where no statement can carry them.
    static func bytes(_ row: borrowing RowView, _ slots: [Int]) throws(StorageError) -> Int {
        var bytes = 0
        for slot in slots { bytes += row[slot].kind == .text || row[slot].kind == .blob ? Int(row[slot].length) : 8 }
        if bytes <= mostBytes { return bytes }
        throw StorageError(
            .valueTooLarge, "an object has \(bytes) bytes; the server takes \(mostBytes)", details: .init(keys: [row.key]))
    }
}

extension RowSource {
    /// Hands the rows over in parts of at most `scratch.capacity` rows, and of so many bytes as go in one statement.
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
