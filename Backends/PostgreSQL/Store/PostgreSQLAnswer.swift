#if PostgreSQL
internal import CLibPQ
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage

/// The answer to a statement, in parts: one for each row if it is received row by row, otherwise one for all rows.
final class PostgreSQLAnswer {
    /// Whether a part was received.
    var isBegun = false
    /// Whether the server has reported the end of the statement.
    var isComplete = false
    /// Whether the rest is not needed.
    var isAbandoned = false
    /// The types of the columns, once they are known.
    var oids: [UInt32]?
    /// The error of the statement.
    var failure: StorageError?
    /// The parts that were received because the connection was needed for another statement, without those that were returned.
    private var kept: [Part?] = []
    private var keptBytes = 0
    private var position = 0
    private var file: PostgreSQLRowFile?

    /// The size of the parts that are kept in memory. Beyond it rows are written to a temporary file: the number of rows of a step was chosen
    /// before their size was known.
    private static let mostKeptBytes = 16 << 20

    private enum Part {
        case result(PostgreSQLResult)
        case place(Int)
    }

    /// Whether parts had to be kept.
    var wasInterrupted: Bool { !kept.isEmpty }

    /// Adds a part that the program has not asked for yet.
    func keep(_ part: PostgreSQLResult) {
        keptBytes += part.bytes
        if keptBytes > Self.mostKeptBytes, part.count == 1 {
            file = file ?? PostgreSQLRowFile(part)
            if let place = file?.add(part) { return kept.append(.place(place)) }
        }
        kept.append(.result(part))
    }

    /// Returns the next part that was kept.
    ///
    /// - Throws: `inputOutput` if it cannot be read from the temporary file.
    func nextKept() throws(StorageError) -> PostgreSQLResult? {
        guard position < kept.count else { return nil }
        let part: PostgreSQLResult?
        switch kept[position] {
        case .result(let result): part = result
        // A row that cannot be read is not skipped: the next call reads it again.
        case .place(let place): part = try file?.row(at: place)
        case nil: part = nil
        }
        kept[position] = nil
        position += 1
        return part
    }
}
#endif
