#if PostgreSQL
internal import PolystoreFoundation
internal import PolystoreSQL
internal import PolystoreStorage
internal import Synchronization

/// The number of rows to fetch at once. It depends on the size of previous rows, so that long values do not fill the memory.
final class PostgreSQLFetchSize: Sendable {
    /// Beyond a thousand rows, more rows make no difference.
    private static let mostRows = 2000, mostBytes = 4 << 20
    /// The number of rows before the size of a row is known.
    static let firstRows = 64
    /// Rows that are far longer than those before them must not fill the memory when they are kept.
    private static let mostKeptRows = 128

    private let rowBytes = Atomic(0)

    /// The number of rows to fetch.
    var rows: Int {
        let bytes = rowBytes.load(ordering: .relaxed)
        return bytes == 0 ? Self.firstRows : min(max(Self.mostBytes / bytes, 1), Self.mostRows)
    }

    /// The number of rows to fetch if what is left of them may have to be kept.
    var fewRows: Int { min(rows, Self.mostKeptRows) }

    /// Updates the row size.
    func learn(rows: Int, bytes: Int) { if rows > 0 { rowBytes.store(max(bytes / rows, 1), ordering: .relaxed) } }
}
#endif
