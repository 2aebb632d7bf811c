internal import PolystoreSchema

/// The result rows of a statement.
public struct RawRows: Sendable, Hashable {
    /// The column names, in order. The engine chooses the name of a column that the statement does not name.
    public let names: [String]
    /// The values of each row, in the order of `names`.
    public let rows: [[Value]]

    /// Creates a result.
    public init(names: [String], rows: [[Value]]) {
        self.names = names
        self.rows = rows
    }
}
