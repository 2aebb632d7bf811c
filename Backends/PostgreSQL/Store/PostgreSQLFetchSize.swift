#if PostgreSQL
internal import Foundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// The number of rows to fetch at once. It depends on the size of previous rows, so that long values do not fill the memory.
final class PostgreSQLFetchSize: Sendable {
    /// Beyond a thousand rows, more rows make no difference.
    private static let mostRows = 2000, mostBytes = 4 << 20
    /// The number of rows before the size of a row is known.
    private static let firstRows = 64

    private let rowBytes = Atomic(0)

    /// The number of rows to fetch.
    var rows: Int {
        let bytes = rowBytes.load(ordering: .relaxed)
        return bytes == 0 ? Self.firstRows : min(max(Self.mostBytes / bytes, 1), Self.mostRows)
    }

    /// Updates the row size from a result.
    func learn(_ result: PostgreSQLResult) {
        if result.count > 0 { rowBytes.store(max(result.bytes / result.count, 1), ordering: .relaxed) }
    }
}
#endif
