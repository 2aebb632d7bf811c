/// The progress of a transfer or a load.
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
    /// Whether the copy waits until it may go on (`TransferPace.isPaused`).
    public internal(set) var isPaused = false
}
