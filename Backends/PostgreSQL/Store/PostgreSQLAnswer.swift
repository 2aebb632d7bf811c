#if PostgreSQL
internal import CLibPQ
internal import Foundation
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
    private var kept: [PostgreSQLResult?] = []
    private var position = 0

    /// Whether parts had to be kept.
    var wasInterrupted: Bool { !kept.isEmpty }

    /// Adds a part that the program has not asked for yet.
    func keep(_ part: PostgreSQLResult) { kept.append(part) }

    /// Returns the next part that was kept.
    func nextKept() -> PostgreSQLResult? {
        guard position < kept.count else { return nil }
        defer {
            kept[position] = nil
            position += 1
        }
        return kept[position]
    }
}
#endif
