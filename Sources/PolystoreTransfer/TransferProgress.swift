/// The progress of a transfer, a load, a comparison or a check.
public struct TransferProgress: Sendable {
    /// The name of the current entity or link table.
    public let name: String
    /// The number of its completed rows.
    public let done: Int
    /// The total number of its rows.
    public let total: Int
    /// The number of completed rows of all entities.
    public let allDone: Int
    /// The total number of rows of all entities.
    public let allTotal: Int
    /// Whether the rows are read to compare or check them. In a transfer they are counted again, from zero.
    public internal(set) var isVerifying = false
    /// Whether the copy waits until it may go on (`TransferPace.isPaused`).
    public internal(set) var isPaused = false
}
